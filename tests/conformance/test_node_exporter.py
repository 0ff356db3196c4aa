"""Spotter beside node_exporter on this machine: what both measure is the same (metrics_compared.py).

One run of both for all tests. A round is a page of the agent right after it has sampled, one of node_exporter, and one of the
agent after its next sample: a counter of node_exporter lies between the two of the agent, and is exactly theirs where neither
moved. Rates are those between two rounds."""

import http.client
import statistics
import time

import pytest

import metrics_compared
import monitoring

ROUNDS = 12
COLLECTORS = "all,filesystem:1s,uptime:1s,interrupts:1s,timex:1s,conntrack:1s"
TABLES = ("cpu", "cpu_core", "load", "memory", "pressure", "vmstat", "disk", "filesystem", "network", "network_stack", "interrupts", "uptime")
LEAST_STEPS = 200  # of a counter, for its rate to be known to a hundredth


class Page:
    """Fetched by a connection that stays: connections are among what is compared."""

    def __init__(self, url):
        _, _, address, self.path = url.split("/")
        self.connection = http.client.HTTPConnection(address, timeout=monitoring.PATIENCE)

    def samples(self):
        self.connection.request("GET", "/" + self.path)
        return monitoring.samples_of(self.connection.getresponse().read().decode())


class Round:
    def __init__(self, agent, node):
        self.before = next_samples(agent)
        self.node = node.samples()
        self.after = next_samples(agent)


def sampled(samples):
    """When the tables were looked at that are compared."""
    return [v for (name, labels), v in samples.items() if name == "spotter_sample_timestamp_seconds" and dict(labels)["table"] in TABLES]


def has_all_tables(samples):
    return len(sampled(samples)) == len(TABLES)


def next_samples(agent):
    """The agent's next samples, as soon as all of them are there."""
    start = time.time()

    def fresh():
        samples = agent.samples()
        return samples if min(sampled(samples)) > start else None
    time.sleep(1.02 - start % 1)  # it samples at whole seconds
    return monitoring.wait_for(fresh, "a newer sample")


# What node_exporter has open while it looks, and nobody at other times: a netlink socket, and UNIX sockets for two of its
# collectors (strace, one scrape).
OF_THE_LOOK = {"spotter_network_stack_sockets": 2}


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    monitoring.tool("prometheus-node-exporter")
    folder = tmp_path_factory.mktemp("agent")
    with (monitoring.node_exporter(tmp_path_factory.mktemp("node_exporter")) as url,
          monitoring.Agent(folder, COLLECTORS, {"per_core": True}) as agent):
        pages = Page(agent.url), Page(url)
        monitoring.wait_for(lambda: has_all_tables(pages[0].samples()), "the first samples")
        pages[1].samples()
        yield [Round(*pages) for _ in range(ROUNDS)]


def series(pair, node):
    """Their series of a pair, and what it is called here."""
    for (name, labels), _ in node.items():
        labels = dict(labels)
        if name == pair.node and all(labels.get(k) == v for k, v in pair.where):
            ours = [(here, labels[there]) for there, here in pair.labels]
            yield (name, tuple(sorted(labels.items()))), (pair.ours, tuple(sorted([*ours, *pair.our_where])))


def compared(rounds):
    """(pair, their key, our key) of all that both show in each round."""
    return [(pair, theirs, ours) for pair in metrics_compared.PAIRS for theirs, ours in series(pair, rounds[0].node)
            if all(theirs in r.node and ours in r.before and ours in r.after for r in rounds)]


def is_counter(pair):
    return pair.ours.endswith("_total")


def test_every_pair_is_compared(rounds):
    """What node_exporter shows here is here, too, and no pair is of a name that is gone."""
    named = {pair.ours for pair, _, _ in compared(rounds)}
    shown = {name for name, _ in rounds[0].node}
    missing = [pair.ours for pair in metrics_compared.PAIRS if pair.node in shown and pair.ours not in named]
    assert missing == []
    assert len(named) > 100
    listed = {monitoring.exposed_name(row) for row in monitoring.metric_list()}
    assert [pair.ours for pair in metrics_compared.PAIRS if pair.ours not in listed] == []


def test_counters_are_equal_at_equal_times(rounds):
    wrong, exact = [], 0
    for pair, theirs, ours in compared(rounds):
        if not is_counter(pair):
            continue
        for r in rounds:
            value = r.node[theirs] * pair.scale
            low, high = r.before[ours], r.after[ours]
            slack = 1e-9 * abs(high)  # of the doubles of seconds
            if not low - slack <= value <= high + slack:
                wrong.append((ours, low, value, high))
            exact += low == high
    assert wrong == []
    assert exact > 100


def test_rates_agree(rounds):
    """Between two rounds in which the pages are as near to each other as can be: what happens between the two is not lost."""
    wrong, known = [], 0
    third = len(rounds) // 3
    for pair, theirs, ours in compared(rounds):
        if not is_counter(pair):
            continue

        def apart(r):
            return abs(r.node[theirs] * pair.scale - r.before[ours])
        first, last = min(rounds[:third], key=apart), min(rounds[-third:], key=apart)
        step = 0.01 if "_seconds_" in ours[0] else pair.scale
        there = (last.node[theirs] - first.node[theirs]) * pair.scale
        here = last.before[ours] - first.before[ours]
        if max(there, here) >= LEAST_STEPS * step:
            known += 1
            if abs(there - here) > 0.02 * max(there, here):
                wrong.append((ours, there, here))
    assert wrong == []
    assert known > 5


def test_gauges_agree(rounds):
    """What stands still is equal; of what moves, the middle of theirs is among ours, as near as theirs are to each other."""
    wrong, equal = [], 0
    for pair, theirs, ours in compared(rounds):
        if is_counter(pair):
            continue
        here = [value for r in rounds for value in (r.before[ours], r.after[ours])]
        there = [r.node[theirs] * pair.scale for r in rounds]
        slack = max(there) - min(there) + OF_THE_LOOK.get(ours[0], 0)
        if not min(here) - slack <= statistics.median(there) <= max(here) + slack:
            wrong.append((ours, min(here), there, max(here)))
        equal += min(here) == max(here) == there[0] and slack == 0
    assert wrong == []
    assert equal > 20


def test_all_of_node_exporter_is_accounted_for(rounds):
    families = {name for name, _ in rounds[0].node if name.startswith("node_")}
    assert [f for f in sorted(families) if not metrics_compared.is_known_of_node(f)] == []


def test_what_the_table_calls_ours_is_there():
    assert monitoring.expanded("a_{b,c}_{d,e}_f g{h}") == "a_b_d_f a_b_e_f a_c_d_f a_c_e_f g{h}"
    told = [*metrics_compared.OTHERWISE.values(), *metrics_compared.DYNOLOG.values()]
    assert monitoring.unknown_metrics(monitoring.expanded("\n".join(told)).replace("spotter_job_*", "")) == []


def test_the_table_in_the_docs_is_up_to_date():
    assert metrics_compared.DOCS.read_text() == metrics_compared.text(), (
        "python3 tests/conformance/metrics_compared.py --write writes docs/metrics_compared.md")
