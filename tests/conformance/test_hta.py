"""--compat hta against HTA's own tables (shared/golden/hta), table by table and trace by trace: equal, or different by the
rules of HTA that hta_differences.py lists. For those a model of HTA in plain Python gives HTA's numbers with these rules,
not with fewer, and ours without any."""

import itertools
import json
import re

import pytest

import harness
import hta_answers
import hta_differences
import hta_tables
import references

pytestmark = harness.needs_shared()

LARGEST = "df_index_resolver"  # what the oracle takes many seconds for; of the shapes that others have, too


def case(table, trace):
    takes_long = trace == LARGEST and (table.model or table.name == "gpu_kernel_breakdown.kernel_df")
    return pytest.param(table, trace, id=f"{table.name}-{trace}", marks=[pytest.mark.whole] if takes_long else [])


CASES = [case(table, trace) for trace in references.names() for table in hta_tables.TABLES.values()]
MODELLED = [case for case in CASES if case.values[0].model]


def shown(table, trace, keys, *sides):
    return "\n".join([f"{table} of {trace}, {len(keys)} rows differ:",
                      *(f"{key}: {' | '.join(str(side.get(key)) for side in sides)}" for key in keys[:5])])


@pytest.mark.parametrize(("table", "trace"), CASES)
def test_table(table, trace):
    name = table.name
    ours, rows = table.ours(trace), hta_answers.golden(trace, f"{name}.csv")
    assert (rows is None) == (trace in hta_differences.RAISED.get(name, {})), "HTA raised, or should have"
    if rows is None:
        return
    theirs = table.theirs(rows)
    keys = hta_tables.differing(ours, theirs, table.within)
    rules = hta_differences.DIFFERENT.get(name, {}).get(trace, "").split()
    if not rules:
        assert not keys, shown(name, trace, keys, ours, theirs)
        return
    assert keys, "listed as different, but equal"
    modelled = hta_tables.modelled(table, trace, rules)
    unexplained = hta_tables.differing(modelled, theirs, table.within)
    assert not unexplained, shown(name, trace, unexplained, modelled, theirs)
    for fewer in itertools.combinations(rules, len(rules) - 1):
        assert hta_tables.differing(hta_tables.modelled(table, trace, fewer), theirs, table.within), f"{fewer} suffice"


@pytest.mark.parametrize(("table", "trace"), MODELLED)
def test_model_without_rules_is_ours(table, trace):
    ours, modelled = table.ours(trace), hta_tables.modelled(table, trace, ())
    keys = hta_tables.differing(ours, modelled)
    assert not keys, shown(table.name, trace, keys, ours, modelled)


@pytest.mark.parametrize("trace", references.names())
def test_why_hta_raises(trace):
    """B19: there is nothing that it looks at. B1: rows of -1 us make a sum negative. B17: they break its call stacks."""
    ranks = hta_answers.ranks(trace).values()
    for name, traces in hta_differences.RAISED.items():
        reason = traces.get(trace)
        if reason == "B19" and name.startswith("aten"):
            assert not hta_tables.modelled(hta_tables.TABLES[name], trace, ("scope", "B20"))
        elif reason == "B19":
            assert not any(rank.device_rows(("B3", "B4")) for rank in ranks)
        elif reason == "B1":
            values = hta_tables.modelled(hta_tables.TABLES[name], trace, ("B1",))
            assert any(parts[2] < 0 for parts in values.values())
        elif reason == "B17":
            assert any(row.end < row.start for rank in ranks for row in rank.rows if row.stream == -1)


@pytest.mark.parametrize("trace", references.names())
def test_profiler_steps(trace):
    """HTA lists the steps that it keeps."""
    expected = json.loads((hta_answers.GOLDEN / trace / "profiler_steps.json").read_text())
    rows = hta_answers.answer(trace)["steps"]
    assert sorted({row["number"] for row in rows if row["mark"].startswith("ProfilerStep")}) == expected


@pytest.mark.parametrize("trace", references.names())
def test_critical_path_is_not_shorter(trace):
    """HTA's path is the longest chain anywhere in the window, ours fills it (B26, B44)."""
    paths = {}
    for row in hta_answers.answer(trace)["critical_path"]:
        paths.setdefault(row["rank"], []).append(row["length_ns"] / 1000)
    marked = {row["rank"] for row in hta_answers.answer(trace)["steps"] if row["mark"].startswith("ProfilerStep")}
    for file in (hta_answers.GOLDEN / trace).glob("critical_path.*.json"):
        words = file.name.split(".")
        window, _, instance = words[1].partition("_")
        rank = int(words[2].removeprefix("rank")) if words[2] != "json" else next(iter(paths))
        theirs = json.loads(file.read_text())
        if theirs is None or window == "annotation":
            continue
        assert (window == "step") == (rank in marked)
        if int(instance or 0) < len(paths[rank]):  # B36: not for the device's copy of a step
            assert paths[rank][int(instance or 0)] >= theirs["path_length"]


def test_documentation_lists_the_results():
    text = hta_differences.DOCS.read_text()
    assert text == hta_differences.documented(text, hta_tables.TABLES), (
        "python3 tests/conformance/hta_differences.py --write")
    rules = {rule for traces in hta_differences.DIFFERENT.values() for rules in traces.values() for rule in rules.split()}
    rules |= {rule for traces in hta_differences.RAISED.values() for rule in traces.values()}
    for line in harness.run("analyses").stdout.decode().splitlines():
        if re.match("  [a-z]", line):
            rules |= set(re.findall(r"\bB[0-9]+\b", harness.run("analyses", line.split()[0]).stdout.decode()))
    for rule in rules:
        assert f"\n| {rule} | " in text, f"{rule} is not explained"


def test_all_goldens_are_named():
    """What HTA answers that is no table here is tested elsewhere, or another definition, as docs/hta.md says."""
    elsewhere = ("critical_path.", "cupti_counter_data_with_operators", "potential_stragglers", "profiler_steps", "params",
                 "trace_basics")
    unstable = {name.removesuffix(".stable") for name in hta_tables.TABLES if name.endswith(".stable")}
    for trace in references.names():
        for file in (hta_answers.GOLDEN / trace).iterdir():
            name = file.name
            for ending in (".gz", ".csv", ".json", ".error.txt"):
                name = name.removesuffix(ending)
            known = name in hta_tables.TABLES or name in unstable or name.startswith(elsewhere) or name == "exact"
            known |= any(table.startswith(f"{name}.") for table in hta_tables.TABLES) or name == "gpu_kernel_breakdown"
            assert known, file
