"""The agent's page /metrics under a real Prometheus and its promtool; the rules that come with it. test_dashboards.py
runs all queries."""

import re
import shutil
import subprocess
import urllib.error

import pytest

import harness
import monitoring

RULES = harness.ROOT / "packaging" / "prometheus-rules.yml"
TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def promtool(*arguments, text="", folder=None):
    done = subprocess.run([monitoring.tool("promtool"), *map(str, arguments)], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, cwd=folder, timeout=60)
    return done.returncode, done.stdout.strip()


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    with monitoring.Agent(tmp_path_factory.mktemp("agent")) as running:
        # By then each collector has sampled, and the agent knows what it costs itself.
        monitoring.wait_for(lambda: "spotter_agent_collector_samples_total" in running.page(), "the first samples")
        yield running


@pytest.fixture(scope="module")
def prometheus(agent, tmp_path_factory):
    with monitoring.prometheus(tmp_path_factory.mktemp("prometheus"), agent.address, RULES) as server:
        yield server


def test_promtool_has_no_complaint_about_the_page(agent):
    assert promtool("check", "metrics", text=agent.page()) == (0, "")


def test_promtool_has_no_complaint_about_any_metric():
    """Of all collectors, those that have nothing to say on this machine, too."""
    rows = [row | {"name": monitoring.exposed_name(row)} for row in monitoring.metric_list()]
    rows = [row for row in rows if row["name"]]
    names = [row["prometheus"] for row in rows]
    assert len(names) > 20 and sorted(names) == sorted(set(names))
    heads = {row["name"]: f"# HELP {row['name']} {row['help']}\n# TYPE {row['name']} {row['kind']}\n" for row in rows}
    page = "".join(head + "".join(f"{row['prometheus']} 1\n" for row in rows if row["name"] == name) for name, head in heads.items())
    assert promtool("check", "metrics", text=page) == (0, "")


def test_the_page_has_what_the_list_says(agent):
    listed = {monitoring.exposed_name(row): row["kind"] for row in monitoring.metric_list()}
    types = monitoring.types_of(agent.page())
    assert types["spotter_cpu_seconds_total"] == "counter"
    assert not any(name.removeprefix("spotter_").startswith(monitoring.NOT_EXPOSED) for name in types)
    for name, kind in types.items():
        if name in listed:
            assert kind == listed[name], name
        else:
            assert name in monitoring.OURS_EVERYWHERE or name.endswith("_info"), name


def test_formats(agent):
    headers, plain = monitoring.fetch(agent.url)
    assert headers["Content-Type"] == TEXT and "Content-Encoding" not in headers
    headers, packed = monitoring.fetch(agent.url, **{"Accept-Encoding": "gzip"})
    assert headers["Content-Encoding"] == "gzip" and int(headers["Content-Length"]) < len(plain) / 2
    assert monitoring.types_of(packed) == monitoring.types_of(plain)
    headers, open_metrics = monitoring.fetch(agent.url, Accept="application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
    assert headers["Content-Type"] == OPEN_METRICS and open_metrics.endswith("\n# EOF\n")
    assert monitoring.samples_of(open_metrics).keys() == monitoring.samples_of(plain).keys()
    with pytest.raises(urllib.error.HTTPError, match="404"):
        monitoring.fetch(agent.url.replace("/metrics", "/v1/status"))


def test_the_queries_give_the_numbers_back(agent, prometheus):
    """Counters lie between those of a page before and a page after; what is on both is there, by the same labels."""
    before = agent.page()
    first = monitoring.samples_of(before)
    start = max(when for when, _ in prometheus.query("timestamp(up)").values())

    def newer():
        # Two seconds on: a scrape that began after `before`.
        return next(iter(prometheus.query("timestamp(up)").values()))[1] > start + 2
    monitoring.wait_for(newer, "another scrape")
    scraped = prometheus.query('{__name__=~"spotter_.+"}')
    last = agent.samples()
    types = monitoring.types_of(before)
    moved = 0
    for key in first.keys() & last.keys():
        assert key in scraped, key
        value = scraped[key][1]
        if types[key[0]] == "counter":
            assert first[key] <= value <= last[key], key
            moved += first[key] < last[key]
        elif key[0].endswith("_info"):
            assert value == 1
    assert moved > 5
    assert scraped["spotter_cpu_cpus", ()][1] == first["spotter_cpu_cpus", ()]
    assert prometheus.query("scrape_samples_scraped").popitem()[1][1] == pytest.approx(len(last), rel=0.1)
    ages = prometheus.query("time() - spotter_sample_timestamp_seconds{table='cpu'}")
    assert all(-1 < age < 5 for _, age in ages.values()) and ages


def test_prometheus_evaluates_the_rules(prometheus):
    def evaluated():
        groups = prometheus.get("rules")["groups"]
        return groups if all(rule["health"] != "unknown" for group in groups for rule in group["rules"]) else None
    groups = monitoring.wait_for(evaluated, "all rules have been evaluated")
    rules = [rule for group in groups for rule in group["rules"]]
    assert len(rules) > 20
    assert [rule for rule in rules if rule["health"] != "ok"] == []
    assert [rule["name"] for rule in rules if rule.get("state") == "firing" and rule["labels"].get("severity") == "critical"] == []


def test_rules_are_what_promtool_likes():
    status, said = promtool("check", "rules", RULES)
    assert status == 0 and "FAILED" not in said, said


def test_alerts_fire_where_they_should_and_not_beside(tmp_path):
    for path in (RULES, harness.ROOT / "tests" / "conformance" / "prometheus_rules_test.yml"):
        shutil.copy(path, tmp_path)
    status, said = promtool("test", "rules", "prometheus_rules_test.yml", folder=tmp_path)
    assert status == 0, said


def test_rules_name_only_what_there_is():
    assert monitoring.unknown_metrics("spotter_no_such_thing spotter_cpu_seconds_total spotter_cpu_cpus_total") == [
        "spotter_cpu_cpus_total", "spotter_no_such_thing"]
    assert monitoring.unknown_metrics(RULES.read_text()) == []


def test_no_alert_has_the_name_of_a_message_of_the_agents():
    """They tell Alertmanager of a rule as SpotterItsName (src/notify/alertmanager.cc), by thresholds of their own."""
    rules = (harness.ROOT / "src" / "respond" / "rules" / "list.h").read_text()
    told = {f"Spotter{name}" for name in re.findall(r"^  k(\w+)", rules, re.MULTILINE)}
    alerts = set(re.findall(r"- alert: (\w+)", RULES.read_text()))
    assert "SpotterGpuThrottled" in told and "SpotterGpuLost" in alerts
    assert not told & alerts
