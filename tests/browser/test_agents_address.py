"""Addresses of the agents' views: each key does something in its view, and a link that has it shows the same in a new page. What agents
measure changes meanwhile, so that what is compared is what is chosen, not the numbers."""

import pathlib
import sys
import time
import urllib.parse

import pytest

import jobs as jobs_module
import views
import watched
from test_address_keys import address, keys_read, pairs_of

sys.path.append(str(pathlib.Path(__file__).parents[1] / "e2e"))

from agent import until  # noqa: E402
from incident import JOB, an_incident  # noqa: E402
from remote import RemoteAgent, certificates  # noqa: E402

# "{…}" is what is only known of the agents.
FRAGMENTS = {
    "live": ["metric=memory&range=1h&host=localhost", "of={job}&sort=-rank", "from={from}&to={to}"],
    "captures": ["capture={capture}&from={from}&to={to}", "sort=-pid&filter=0"],
    "incidents": ["id={incident}&host={other}", "sort=-host&filter=local"],
    "hosts": ["host=localhost&sort=-host", "filter=local"],
}
LOOKS = """() => {
  const cells = (row) => [...row.querySelectorAll("td")].filter((cell) => /^(host|id|pid|rank|part)$/.test(cell.dataset.column)).map((cell) => cell.textContent);
  const all = (selector, of) => [...document.querySelectorAll("#view " + selector)].map(of);
  return {
    titles: all("h2, h3", (one) => one.textContent),
    charts: all("figcaption", (one) => one.firstChild.textContent),
    choices: all("select", (one) => one.value),
    filters: all("input[type=search], input:not([type])", (one) => one.value),
    sorted: all("[aria-sort]:not([aria-sort=none])", (one) => one.textContent + one.ariaSort),
    marked: all(".marked, p:has(> button)", (one) => one.textContent),
    chosen: all("tr.picked", cells),
    rows: all("table[data-table]:not([data-table=ranks_now], [data-table=incidents]) tbody", (one) => [...one.querySelectorAll("tr")].map(cells)),
    // Of all jobs of the machine, which come and go.
    hosts: [...new Set(all("[data-table=incidents] td[data-column=host]", (one) => one.textContent))],
    isOneJob: new Set(all("[data-table=ranks_now] td[data-column=job]", (one) => one.textContent)).size === 1,
  };
}"""


@pytest.fixture(name="shown", scope="module")
def two_hosts(tmp_path_factory):
    """(place, what is known): an agent under two names, with an incident, a capture that is over, and a process."""
    folder = tmp_path_factory.mktemp("agents")
    with an_incident(folder, kind=measuring_agent) as (agent, incident), agent.spawn(RANK=0, WORLD_SIZE=1, TORCHELASTIC_RUN_ID="other") as process:
        agent.wait_for_processes([process.pid])
        begun = time.time_ns()
        capture = agent.capture(pids=[process.pid], duration_ms=100, warmup_ms=0)
        agent.wait_for_receipts(capture)
        later = agent.capture(pids=[process.pid], duration_ms=100, warmup_ms=0)
        agent.wait_for_receipts(later)
        began = {row["id"]: row["began_ns"] for row in agent.table("/v1/captures", "captures")}
        other = f"127.0.0.1:{agent.port}"
        with jobs_module.serving(["--host", f"localhost:{agent.port},{other}", "--credentials", certificates().tls / "client"], folder) as (place, _):
            until(lambda: all(row["state"] == "up" for row in place.ask("v1/hosts", "hosts")), 10, "the agents are asked", every=0.2)
            yield place, {"job": JOB, "incident": incident, "other": "127.0.0.1", "capture": f"localhost={capture}",
                          "from": str(begun - 10**9), "to": str((began[capture] + began[later]) // 2)}


def measuring_agent(*words, **options):
    return RemoteAgent("--collect", "cpu,memory,load,network,process", *words[2:], **options)


def filled(fragment, known):
    return [(key, value.format(**known)) for key, value in pairs_of(fragment)]


def looks_at_last(page, wanted=None, patience_ms=12_000):
    """What the page looks like once it has what it asks agents for: as it is wanted, or for a while the same."""
    before = None
    for _ in range(patience_ms // 300):
        page.wait_for_timeout(300)
        looks = page.evaluate(LOOKS)
        if looks == wanted or (wanted is None and looks == before):
            break
        before = looks
    return looks


def test_all_keys_that_the_page_reads_are_here():
    assert set(FRAGMENTS) == {view for view, of in views.ALL if of == "agents"}
    for view, fragments in FRAGMENTS.items():
        assert keys_read(view) == {key for fragment in fragments for key, _ in pairs_of(fragment)}, view


@pytest.mark.whole
@pytest.mark.parametrize(("view", "fragment"), [(view, fragment) for view, fragments in FRAGMENTS.items() for fragment in fragments])
def test_each_key_does_something_and_comes_back(shown, open_page, view, fragment):
    place, known = shown
    pairs = filled(fragment, known)
    # Two names of one agent are one asker, of whom it answers two questions for samples at once.
    first = open_page(place, address(view, pairs), allow=["status of 409"])
    looks = looks_at_last(first)
    assert first.locator("#view [role=alert]").count() == 0
    place_then = first.evaluate("() => location.hash")
    assert urllib.parse.parse_qs(place_then.split("?")[1]) == {key: [value] for key, value in [("v", "1"), *pairs]}
    again = first.context.new_page()
    first.close()
    again.goto(place.at(place_then))
    watched.until_ready(again, view)
    assert looks_at_last(again, looks) == looks
    assert again.evaluate("() => location.hash") == place_then
    idle = []
    for key, _ in pairs:
        watched.show(again, place, address(view, [pair for pair in pairs if pair[0] != key]))
        if looks_at_last(again) == looks:
            idle.append(key)
    assert not idle, "these do nothing"
