"""The dashboards for Grafana and the rules for Prometheus under a real Prometheus that has a made-up fleet (made_up_fleet.py): each
query is understood, gives something, and gives no more lines than a person can look at."""

import json
import os
import re
import subprocess
import sys

import pytest

import harness
import made_up_fleet
import monitoring

PACKAGING = harness.ROOT / "packaging"
GRAFANA = PACKAGING / "grafana"
RULES = PACKAGING / "prometheus-rules.yml"
DOCUMENT = harness.ROOT / "docs" / "prometheus.md"
NAMES = ("fleet", "job", "host")
# Lines of a panel or rows of a table: of a fleet and of a job whatever their size.
MOST = {"fleet": 50, "job": 50, "host": 200}
LONGEST = 5.0  # seconds of a processor for a query
RATE = 4 * made_up_fleet.STEP  # as Grafana has it: four times between samples
GRAFANAS_OWN = {"__rate_interval": f"{RATE}s", "__range": f"{made_up_fleet.SPAN}s"}
# Grafana's names of units; what it does not know it writes behind the number.
UNITS = {"bool", "Bps", "bytes", "celsius", "cps", "dtdurations", "hertz", "none", "ops", "percentunit", "pps", "s", "short", "watt"}
# Grafana's functions in links, which are none of the dashboards' variables.
IN_LINKS = ("__field", "__data", "__url_time_range", "__value")

# Queries that give nothing there, by what is in them, and why.
EMPTY = {}


def load(name):
    return json.loads((GRAFANA / f"{name}.json").read_text())


DASHBOARDS = {name: load(name) for name in NAMES}


def panels(name):
    """All panels, those of closed rows among them."""
    return [panel for head in DASHBOARDS[name]["panels"] for panel in (head, *head.get("panels", []))]


def queries(name):
    """(panel, target) of each query."""
    return [(panel, target) for panel in panels(name) for target in panel.get("targets", [])]


def names_in(text):
    return set(re.findall(r"\bspotter_\w+", text))


# Which metrics all hosts have, and which are of one host.
OF_FLEET = set().union(*(names_in(json.dumps(DASHBOARDS[name])) for name in ("fleet", "job")), names_in(RULES.read_text()))


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    alerts = re.findall(r"alert: (\w+)", RULES.read_text())
    names = OF_FLEET | names_in(DOCUMENT.read_text())
    with made_up_fleet.prometheus(tmp_path_factory.mktemp("fleet"), names, RULES, alerts) as (server, end):
        yield Fleet(server, end)


class Fleet:
    def __init__(self, server, end):
        self.server, self.end = server, end

    def ask(self, expr, is_range=False):
        """(series, seconds of processor time, which other work on the machine does not lengthen): of a range as Grafana asks for
        it, else of the last time."""
        start = self.server.cpu_seconds()
        if is_range:
            found = self.server.get("query_range", query=expr, start=self.end - made_up_fleet.SPAN, end=self.end, step=15)
        else:
            found = self.server.get("query", query=expr, time=self.end)
        return found["result"], self.server.cpu_seconds() - start

    def values(self, expr):
        """{labels: number}"""
        return {tuple(sorted(series["metric"].items())): float(series["value"][1]) for series in self.ask(expr)[0]}

    def label_values(self, text):
        """What `label_values(SELECTOR, LABEL)` of Grafana gives."""
        selector, label = re.fullmatch(r"label_values\((.+), (\w+)\)", text).groups()
        return self.server.get(f"label/{label}/values", **{"match[]": selector})


def filled(text, variables):
    return re.sub(r"\$\{?(\w+)\}?", lambda match: variables[match[1]], text)


def chosen(fleet, name):
    """The variables of a dashboard: the largest job, the host in the most trouble; of many all, as Grafana joins them."""
    variables = GRAFANAS_OWN | {"job": made_up_fleet.LARGE, "instance": made_up_fleet.instance(0), "metric": "spotter_gpu_energy_joules_total"}
    for variable in DASHBOARDS[name]["templating"]["list"]:
        if variable["type"] == "query":
            values = fleet.label_values(filled(variable["query"]["query"], variables))
            assert values, variable["query"]
            if variable["multi"]:
                variables[variable["name"]] = "(" + "|".join(re.escape(v).replace("\\", "\\\\") for v in values) + ")"
            else:
                assert variables[variable["name"]] in values, variable["name"]
    return variables


def why_empty(expr):
    return next((reason for part, reason in EMPTY.items() if part in expr), None)


@pytest.mark.parametrize("name", NAMES)
def test_each_query_gives_something_and_not_too_much(fleet, name):
    variables, wrong, seconds = chosen(fleet, name), [], []
    for panel in panels(name):
        lines, title = [], f"{panel['id']} {panel['title']}"
        for target in panel.get("targets", []):
            expr = filled(target["expr"], variables)
            found, took = fleet.ask(expr, target["range"])
            seconds.append((took, title, target["refId"]))
            lines.append(len(found))
            if not found and not why_empty(expr):
                wrong.append(f"{title}: nothing from {target['expr']}")
            if found and why_empty(expr):
                wrong.append(f"{title}: is listed as empty: {target['expr']}")
        total = max(lines, default=0) if panel["type"] == "table" else sum(lines)
        if total > MOST[name]:
            wrong.append(f"{title}: {total} lines")
    wrong += [f"{title} {ref}: {took:.1f} s" for took, title, ref in seconds if took > LONGEST]
    report(name, seconds)
    assert not wrong, "\n" + "\n".join(wrong)


# A recording that builds on itself: what it comes to in the time that there is.
WAS_UP = {"instance_device_port:spotter_rdma_was_up:max": "max_over_time(spotter_rdma_up[1h])"}


def test_each_rule_gives_something(fleet):
    rules = [rule for group in fleet.server.get("rules")["groups"] for rule in group["rules"]]
    assert len(rules) > 30
    recorded = {rule["name"]: rule["query"] for rule in rules if rule["type"] == "recording"} | WAS_UP
    wrong, seconds = [], []
    for rule in rules:
        # What others record is not there, as no rule has been evaluated.
        found, took = fleet.ask(unrecorded(rule["query"], recorded))
        seconds.append((took, rule["name"], ""))
        if not found and not why_empty(rule["query"]):
            wrong.append(f"{rule['name']}: nothing from {rule['query']}")
    report("rules", seconds)
    assert not wrong and max(seconds)[0] < LONGEST, "\n" + "\n".join(wrong)


def unrecorded(expr, recorded):
    return re.sub(r"\w+:\w+:\w+(\[\w+\])?", lambda match: f"({recorded[match[0]]})" if match[0] in recorded else match[0], expr)


def report(what, seconds):
    """What queries took, in milliseconds, where SPOTTER_QUERY_TIMES names a folder for it."""
    folder = os.environ.get("SPOTTER_QUERY_TIMES")
    if folder:
        rows = [f"{took * 1000:.0f}\t{title}\t{ref}\n" for took, title, ref in sorted(seconds, reverse=True)]
        with open(f"{folder}/{what}.tsv", "w", encoding="utf-8") as out:
            out.write(f"{sum(took for took, _, _ in seconds) * 1000:.0f}\tall {len(rows)}\t\n" + "".join(rows))


def test_the_files_are_what_the_script_writes():
    program = "import json, make; print(json.dumps({name: make.text(name) for name in make.DASHBOARDS}))"
    done = subprocess.run([sys.executable, "-B", "-c", program], cwd=GRAFANA, stdout=subprocess.PIPE, check=True)
    assert json.loads(done.stdout) == {name: (GRAFANA / f"{name}.json").read_text() for name in NAMES}


def test_the_fleet_counts_by_the_rules_themselves(fleet):
    """The script reads the rules by itself; Prometheus has read the same."""
    wanted = {rule["query"] for group in fleet.server.get("rules")["groups"] for rule in group["rules"] if rule["type"] == "alerting"}
    shown = next(panel for panel in panels("fleet") if panel["title"] == "Hosts by state")
    wanted = {unrecorded(query, WAS_UP) for query in wanted}
    counted = [re.fullmatch(r"count\(group by \(instance\) \((.*)\)\)", target["expr"])[1] for target in shown["targets"]]
    assert {fleet.server.get("format_query", query=expr) for expr in counted} == {
        fleet.server.get("format_query", query=query) for query in wanted}


@pytest.mark.parametrize("name", NAMES)
def test_a_dashboard_names_only_what_there_is(name):
    assert monitoring.unknown_metrics(json.dumps(DASHBOARDS[name])) == []


@pytest.mark.parametrize("name", NAMES)
def test_panels_say_what_they_show_and_fit(name):
    wrong = []
    for panel in panels(name):
        if panel["type"] == "row":
            continue
        defaults = panel["fieldConfig"]["defaults"]
        letters = [target["refId"] for target in panel["targets"]]
        legends = [target["legendFormat"] for target in panel["targets"]]
        checks = {
            "title": panel["title"] and panel["title"][0].isupper(), "unit": defaults.get("unit") in UNITS,
            "units of columns": all(made["value"] in UNITS for column in panel["fieldConfig"]["overrides"]
                                    for made in column["properties"] if made["id"] == "unit"),
            "description": panel.get("description", "").endswith("."), "queries": letters,
            "letters": len(set(letters)) == len(letters) and all("A" <= letter <= "Z" for letter in letters),
            "legends": panel["type"] in ("table", "stat") or all(legends) and len(set(legends)) == len(legends),
            "a table's columns are named": panel["type"] != "table" or columns_are_named(panel),
        }
        wrong += [f"{panel['title']}: {what}" for what, is_right in checks.items() if not is_right]
    ids = [panel["id"] for panel in panels(name)]
    assert not wrong and len(set(ids)) == len(ids), "\n" + "\n".join(wrong)


def columns_are_named(panel):
    """Each column that is kept has a title and, if it is a number, a unit."""
    kept, renamed = panel["transformations"][1]["options"]["include"]["names"], panel["transformations"][2]["options"]["renameByName"]
    units = {override["matcher"]["options"] for override in panel["fieldConfig"]["overrides"]
             if override["properties"][0]["id"] == "unit"}
    values = {renamed[column] for column in kept if column.startswith("Value")}
    return set(kept) == set(renamed) and all(renamed.values()) and values == units and len(values) <= len(panel["targets"])


@pytest.mark.parametrize("name", NAMES)
def test_no_panel_lies_on_another(name):
    """What is in a closed row has its place below it, from which all else moves away when it is opened."""
    heads = DASHBOARDS[name]["panels"]
    for side_by_side in [heads, *(head["panels"] for head in heads if head.get("collapsed"))]:
        cells = [(x, y) for panel in side_by_side for place in [panel["gridPos"]]
                 for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])]
        assert len(cells) == len(set(cells)) and max((x for x, _ in cells), default=0) < 24


@pytest.mark.parametrize("name", NAMES)
def test_variables_are_defined_and_links_lead_somewhere(name):
    defined = {variable["name"] for variable in DASHBOARDS[name]["templating"]["list"]}
    used = {word for _, target in queries(name) for word in re.findall(r"\$\{?(\w+)", target["expr"])}
    assert used - set(GRAFANAS_OWN) <= defined and defined - used <= {"datasource"}
    links = re.findall(r'"url": "([^"]*)"', (GRAFANA / f"{name}.json").read_text())
    assert len(set(links)) >= 2 if name == "fleet" else links
    for link in links:
        page, words = re.fullmatch(r"/d/spotter-(\w+)\?(.*)", link).groups()
        there = {variable["name"] for variable in DASHBOARDS[page]["templating"]["list"]}
        assert set(re.findall(r"var-(\w+)=", words)) <= there and "${datasource:queryparam}" in words
        assert set(re.findall(r"\$\{(\w+)", link)) <= {*defined, *IN_LINKS}
    assert all(DASHBOARDS[other]["uid"] == f"spotter-{other}" for other in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_links_of_columns_and_curves_name_what_is_there(name):
    """A curve is linked by a label of its legend, a row by the title of one of its columns."""
    for panel in panels(name):
        for link in panel.get("fieldConfig", {}).get("defaults", {}).get("links", []):
            label = re.search(r"__field\.labels\.(\w+)", link["url"])[1]
            assert all("{{" + label + "}}" in target["legendFormat"] for target in panel["targets"]), panel["title"]
        for override in panel.get("fieldConfig", {}).get("overrides", []):
            for link in (link for made in override["properties"] if made["id"] == "links" for link in made["value"]):
                title = re.search(r"__data\.fields\.(\w+)", link["url"])[1]
                assert title in panel["transformations"][2]["options"]["renameByName"].values(), panel["title"]


# docs/prometheus.md.

def documented(kind):
    return re.findall(rf"^```promql{kind}\n(.*?)```$", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)


def test_the_documented_queries_give_something(fleet):
    found = {query: fleet.ask(filled(query, GRAFANAS_OWN))[0] for query in documented("")}
    assert len(found) >= 8 and [query for query, series in found.items() if not series] == []


HELD = 'group by (instance, gpu, job_id) (spotter_gpu_job_info{job_id!=""})'
POWER = "spotter_gpu_power_watts"


def test_a_shared_gpu_counts_for_each_of_its_jobs(fleet):
    """Of the documented queries that join GPUs: what they give for one, beside the number itself."""
    shared = {made_up_fleet.SHARED, str(int(made_up_fleet.SHARED) + 1)}
    found = fleet.ask(f"{HELD} * on (instance, gpu) group_left () {POWER}")[0]
    assert f"{HELD} * on (instance, gpu) group_left () {POWER}\n" in documented("")
    two = [series for series in found if series["metric"]["gpu"] == "7" and series["metric"]["job_id"] in shared]
    assert {series["metric"]["job_id"] for series in two} == shared
    host = two[0]["metric"]["instance"]
    watts = {labels["gpu"]: float(value[1]) for labels, value in (
        (series["metric"], series["value"]) for series in fleet.ask(f'{POWER}{{instance="{host}"}}')[0])}
    assert {float(series["value"][1]) for series in two} == {watts["7"]}
    by_job = next(query for query in documented("") if "/ on (instance, gpu)" in query)
    parts = {dict(labels)["job_id"]: value for labels, value in fleet.values(by_job).items()}
    assert parts[made_up_fleet.SHARED] == pytest.approx(watts["4"] + watts["5"] + watts["6"] + watts["7"] / 2)
    held = fleet.values(f'sum({POWER} and on (instance, gpu) spotter_gpu_job_info{{job_id!=""}})')
    assert sum(parts.values()) == pytest.approx(*held.values())


def test_the_documented_traps_are_traps(fleet):
    """What is said not to work is refused, as being many to many."""
    traps = documented(" fails")
    assert len(traps) >= 2
    for query in traps:
        with pytest.raises(AssertionError, match="many-to-many|duplicate series|multiple matches"):
            fleet.ask(query)
