"""Tables as HTML for notebooks: no script, which viewers strip, and no colours of their own but shades that
are seen on light and on dark pages."""

from __future__ import annotations

from html import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from spotter.runs import Diff, Results
    from spotter.tables import Field, Note, Table

_LINE = "border-bottom:1px solid rgba(128,128,128,.25)"
_CELL = f"padding:.2em .7em;{_LINE};vertical-align:top;"
_SHORT = 24  # characters of a text that stays on one line
_SEVERITIES = {"loss": "#d1495b", "repair": "#b7791f", "info": "inherit"}


def _is_number(field: Field) -> bool:
    return field.type in ("integer", "real") and field.role != "key"


def _cells(cells: Iterable[str], fields: list[Field], tag: str) -> str:
    out = []
    for text, field in zip(cells, fields):
        align = "right" if _is_number(field) else "left"
        is_short = tag == "th" or _is_number(field) or len(text) <= _SHORT
        wrap = "white-space:nowrap;" if is_short else "overflow-wrap:anywhere;min-width:16em;max-width:40em;"
        title = f' title="{escape(field.help)}"' if tag == "th" else ""
        out.append(f'<{tag}{title} style="{_CELL}text-align:{align};{wrap}">{escape(text)}</{tag}>')
    return "".join(out)


def notes_html(notes: Iterable[Note]) -> str:
    lines = [
        f'<li><span style="color:{_SEVERITIES[note.severity]}">{note.severity}</span>: {escape(note.text)}</li>' for note in notes
    ]
    return f'<ul style="margin:.3em 0;padding-left:1.4em;opacity:.85">{"".join(lines)}</ul>' if lines else ""


def grid_html(table: Table, most: int) -> str:
    fields = table.schema
    head = f"<thead><tr>{_cells((f.name for f in fields), fields, 'th')}</tr></thead>"
    rows = "".join(f"<tr>{_cells(row, fields, 'td')}</tr>" for row in table._core.shown(most))
    more = len(table) - most
    rest = f'<div style="opacity:.7;padding:.2em .7em">… {more} more rows</div>' if more > 0 else ""
    return (
        '<div style="overflow-x:auto"><table style="border-collapse:collapse;font-variant-numeric:tabular-nums;'
        f'font-size:90%">{head}<tbody>{rows}</tbody></table></div>{rest}'
    )


def table_html(table: Table, most: int) -> str:
    caption = f'<div style="font-weight:600;padding:.3em 0">{escape(table.name)}</div>'
    return f"<div>{caption}{grid_html(table, most)}{notes_html(table.notes)}</div>"


def results_html(results: Results) -> str:
    rows = "".join(
        f'<tr><td style="{_CELL}"><code>{escape(name)}</code></td>'
        f'<td style="{_CELL}text-align:right">{len(table)}</td></tr>'
        for name, table in results.items()
    )
    head = f'<tr><th style="{_CELL}text-align:left">table</th><th style="{_CELL}text-align:right">rows</th></tr>'
    return f'<div><table style="border-collapse:collapse;font-size:90%">{head}{rows}</table>{notes_html(results.notes)}</div>'


def _cause(sentence: str) -> str:
    return f'<div style="border-left:4px solid rgba(128,128,128,.6);padding:.15em .8em;margin:.5em 0">{escape(sentence)}</div>'


def diff_html(diff: Diff) -> str:
    causes = "".join(_cause(cause) for cause in diff.causes)
    return f"<div>{causes}{table_html(diff.table, 20)}</div>"
