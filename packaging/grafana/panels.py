"""What the dashboards are made of: panels, tables, variables and links, as Grafana (10 and newer) imports them.

In queries [R] stands for the interval of rates."""

import re

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH = 24
HEIGHT = {"stat": 4, "timeseries": 8, "table": 9, "bargauge": 9}
# Points of a curve: one for each few pixels of a panel of a third of the width, and what a query costs goes with them.
POINTS = 240
KEEP = "${datasource:queryparam}&${__url_time_range}"
# Units that are numbers in words.
WORDS = {"severity": [{"type": "value", "options": {
    "3": {"text": "critical", "color": "red", "index": 0}, "2": {"text": "warning", "color": "orange", "index": 1},
    "1": {"text": "information", "color": "blue", "index": 2}}}]}
SELECTOR = re.compile(r"\bspotter_\w+(?:\{[^}]*\})?(?:\[[^\]]*\])?")


def to_job(job):
    return {"title": "Job", "url": f"/d/spotter-job?var-job={job}&{KEEP}"}


def to_host(host):
    return {"title": "Host", "url": f"/d/spotter-host?var-instance={host}&{KEEP}"}


# Of a curve, by its labels; of a table's column, by its title.
CURVE_LINKS = {"job": to_job("${__field.labels.job_id}"), "host": to_host("${__field.labels.instance}")}
COLUMN_LINKS = {"Job": to_job("${__data.fields.Job}"), "Host": to_host("${__data.fields.Host}")}


def worst(count, expr, by, low=False, only="", also_gone=False):
    """The `count` largest (or lowest) over all of the range: of gauges at its end, of rates in all of it. A plain topk chooses at
    each step anew, and may give many more curves than that. `only`: a comparison that the chosen have to stand; `also_gone`: of
    gauges that have ended before, the last number counts."""
    def at_end(match):
        if match[0].endswith("]"):
            return f"{match[0]} @ end()"
        return f"last_over_time({match[0]}[$__range] @ end())" if also_gone else f"{match[0]} @ end()"
    chosen = SELECTOR.sub(at_end, expr.replace("[R]", "[$__range]"))
    return f"({expr}) and on ({by}) {'bottomk' if low else 'topk'}({count}, {chosen}{only})"


def spread(expr):
    return [(f"min({expr})", "lowest"), (f"quantile(0.1, {expr})", "10 %"), (f"quantile(0.5, {expr})", "median"),
            (f"max({expr})", "highest")]


def apart(names):
    """What tells names apart, in words: without those that all of them end or begin with."""
    words = [name.split("_") for name in names]
    for last in (-1, 0):
        while min(len(name) for name in words) > 1 and len({name[last] for name in words}) == 1:
            for name in words:
                name.pop(last)
    return [" ".join(name) for name in words]


def legends(names, by):
    if len(names) == 1:
        return [by or names[0].replace("_", " ")]
    return [f"{by} {words}".strip() for words in apart(names)]


def counters(table, names, where, by, over="rate", only=""):
    """A query for each counter; `only`: what its number is compared with, so that no line is drawn of what does not happen."""
    return [(f"{over}(spotter_{table}_{name}_total{where}[R]){only}", legend)
            for name, legend in zip(names.split(), legends(names.split(), by))]


def gauges(table, names, where, by, unit=""):
    return [(f"spotter_{table}_{name}{unit}{where}", legend) for name, legend in zip(names.split(), legends(names.split(), by))]


def panel(title, unit, help, *queries, kind="timeseries", width=8, most=None, stack=False, link=None, alarm=False):
    """`queries`: pairs of an expression and a legend; `most`: where the axis ends; `alarm`: anything above 0 is red."""
    defaults = {"unit": unit, "links": [CURVE_LINKS[link]] if link else []}
    if most is not None:
        defaults |= {"min": 0, "max": most}
    is_curve = kind == "timeseries"
    if is_curve:
        defaults["color"] = {"mode": "palette-classic"}
        defaults["custom"] = {"fillOpacity": 40 if stack else 8, "lineWidth": 1, "showPoints": "never",
                              "stacking": {"mode": "normal" if stack else "none"}}
        options = {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
                   "tooltip": {"mode": "multi", "sort": "desc"}}
    else:
        defaults["color"] = {"mode": "thresholds"}
        defaults["thresholds"] = {"mode": "absolute", "steps": [{"color": "green" if alarm else "text", "value": None}] +
                                  ([{"color": "red", "value": 1}] if alarm else [])}
        options = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}}
        options |= ({"colorMode": "value", "graphMode": "none", "textMode": "value"} if kind == "stat" else
                    {"orientation": "horizontal", "displayMode": "basic", "valueMode": "text"})
    return {"title": title, "type": kind, "description": help, "datasource": DATASOURCE, "width": width,
            "maxDataPoints": POINTS, "fieldConfig": {"defaults": defaults, "overrides": []}, "options": options,
            "targets": [target(n, expr, legend, is_curve) for n, (expr, legend) in enumerate(queries)]}


def stat(title, unit, help, expr, width=3, **more):
    return panel(title, unit, help, (expr, ""), kind="stat", width=width, **more)


def target(number, expr, legend, is_range, format="time_series"):
    return {"refId": chr(ord("A") + number), "datasource": DATASOURCE, "editorMode": "code",
            "expr": expr.replace("[R]", "[$__rate_interval]"), "legendFormat": legend,
            "range": is_range, "instant": not is_range, "format": format}


def override(column, **properties):
    return {"matcher": {"id": "byName", "options": column},
            "properties": [{"id": name, "value": value} for name, value in properties.items()]}


def table(title, help, labels, columns, width=12, sort=None, height=HEIGHT["table"]):
    """`labels`: {label: title of its column}; `columns`: (title, unit, expression), of which the first has all rows; others are
    laid beside them by the labels. A column without a title is not shown: its rows are all it says. `sort`: the column that
    the rows are sorted by, and whether they fall; else the first number, falling, or the first label."""
    # What Grafana calls them: with a letter where several have something to say.
    values = {"Value": columns[0][0]} | {f"Value #{chr(ord('A') + n)}": name for n, (name, _, _) in enumerate(columns)}
    names = labels | {field: name for field, name in values.items() if name}
    by, is_falling = sort or ((columns[0][0], True) if columns[0][0] else (next(iter(labels.values())), False))
    overrides = [override(name, unit=unit) for name, unit, _ in columns if name and unit not in WORDS]
    overrides += [override(name, unit="none", mappings=WORDS[unit]) for name, unit, _ in columns if unit in WORDS]
    overrides += [override(name, links=[COLUMN_LINKS[name]]) for name in labels.values() if name in COLUMN_LINKS]
    return {"title": title, "type": "table", "description": help, "datasource": DATASOURCE, "width": width, "height": height,
            "fieldConfig": {"defaults": {"unit": "none", "custom": {"align": "auto", "filterable": True}}, "overrides": overrides},
            "options": {"showHeader": True, "cellHeight": "sm", "sortBy": [{"displayName": by, "desc": is_falling}]},
            "targets": [target(n, expr, "", False, "table") for n, (_, _, expr) in enumerate(columns)],
            "transformations": [
                {"id": "merge", "options": {}},
                {"id": "filterFieldsByName", "options": {"include": {"names": list(names)}}},
                {"id": "organize", "options": {"excludeByName": {}, "indexByName": {name: n for n, name in enumerate(names)},
                                               "renameByName": names}}]}


def variable(name, label, values, many=False):
    """Of the values of a label. Of `many`, all are chosen at first."""
    first = {"selected": True, "text": ["All"], "value": ["$__all"]} if many else {}
    return {"name": name, "label": label, "type": "query", "datasource": DATASOURCE, "query": {"query": values, "refId": name},
            "definition": values, "includeAll": many, "multi": many, "refresh": 2, "sort": 7, "regex": "", "hide": 0,
            "current": first}


SOURCE = {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "refresh": 1,
          "regex": "", "hide": 0, "includeAll": False, "multi": False, "current": {}}


def laid_out(rows):
    """The panels of {title: [panel ...]} from left to right and down; rows whose title begins with "+" are closed at first, and
    their queries run when they are opened."""
    panels, y = [], 0
    for title, row in rows.items():
        is_closed = title.startswith("+")
        head = {"type": "row", "title": title.removeprefix("+"), "collapsed": is_closed, "panels": [],
                "gridPos": {"h": 1, "w": WIDTH, "x": 0, "y": y}}
        panels.append(head)
        y, x, lowest = y + 1, 0, y + 1
        for made in row:
            made = dict(made)
            width, height = made.pop("width"), made.pop("height", HEIGHT[made["type"]])
            if x + width > WIDTH:
                x, y = 0, lowest
            (head["panels"] if is_closed else panels).append(made | {"gridPos": {"h": height, "w": width, "x": x, "y": y}})
            x, lowest = x + width, max(lowest, y + height)
        y = head["gridPos"]["y"] + 1 if is_closed else lowest
    for number, made in enumerate((p for head in panels for p in [head, *head.get("panels", [])]), 1):
        made["id"] = number
    return panels


def dashboard(name, title, help, variables, rows, interval="15s"):
    """`interval`: the least time between two points of a curve."""
    panels = laid_out(rows)
    for made in (p for head in panels for p in [head, *head.get("panels", [])] if p["type"] == "timeseries"):
        made["interval"] = interval
    return {
        "title": title, "uid": f"spotter-{name}", "tags": ["spotter", "gpu", "pytorch"], "schemaVersion": 39, "version": 1,
        "editable": True, "graphTooltip": 1, "refresh": "1m", "time": {"from": "now-1h", "to": "now"}, "timezone": "browser",
        "description": help, "annotations": {"list": []},
        "links": [] if name == "fleet" else [
            {"title": "Fleet", "type": "link", "url": "/d/spotter-fleet?${datasource:queryparam}", "icon": "dashboard", "tags": [],
             "tooltip": "", "targetBlank": False, "keepTime": True, "includeVars": False, "asDropdown": False}],
        "templating": {"list": [SOURCE, *variables]},
        "panels": panels,
    }
