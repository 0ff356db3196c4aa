"""The analysis stragglers against the rank that HTA names, on the one job of several ranks that HTA's goldens have."""

import json

import harness

pytestmark = harness.needs_shared()


def test_who_makes_the_others_wait():
    golden = harness.SHARED / "golden" / "hta" / "trace_filter" / "potential_stragglers.json"
    (named,) = json.loads(golden.read_text())["num_candidates=1"]
    rows = harness.analyze(harness.SHARED / "traces" / "hta" / "trace_filter", tables=["stragglers"], top=None)["stragglers"]
    assert [row["rank"] for row in rows] == [named, 1 - named]
    late, waiting = rows
    assert late["caused_wait_ns"] == waiting["own_wait_ns"] > 0
    assert late["collectives"] == waiting["collectives"] == late["last_count"]
