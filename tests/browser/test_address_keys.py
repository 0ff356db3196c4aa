"""Every key of the address does something in its view, and a link that has it shows the same again."""

import re
import urllib.parse

import harness
import pytest

import views
import watched

SOURCES = harness.ROOT / "web" / "src"

# What a view shows, but for what leads elsewhere, and for the words of the filters themselves.
LOOKS = """() => {
  const view = document.getElementById("view").cloneNode(true);
  for (const one of view.querySelectorAll(".chosen, input")) one.remove();
  for (const one of view.querySelectorAll("*")) for (const name of ["href", "data-paints", "data-paint-ms"]) one.removeAttribute(name);
  return [view.innerHTML, ...[...document.querySelectorAll("#view canvas")].map((one) => one.toDataURL())].join("\\n");
}"""

# Addresses of each view of a job: without any one of its keys the view looks otherwise.
FRAGMENTS = {
    "overview": ["finding=1", "rank=2", "ranks=1-2&steps=4-5"],
    "steps": ["step=5&show=compute_ns&rank=1", "sort=-dur_ns&filter=5", "ranks=1-2&steps=4-5"],
    "operators": ["op=aten::mm&n=12&rank=2", "group=both&top=2&sort=name&filter=aten", "ranks=1-2&steps=4-5"],
    "kernels": ["kernel={kernel}&rank=2", "by=launch&top=2&sort=name", "filter=gemm", "ranks=1-2&steps=4-5"],
    "modules": ["zoom={module}&time=host&pass=forward&q=linear&rank=1", "ranks=1-2&steps=4-5"],
    "timeline": ["from=2000000&to=50000000&q=gemm&open=0,1&marks=3000000-4000000:mine", "open=0&pin=0/d0/s7&hide=0/t20000",
                 "open=0,1&align=0:{collective}&sel=0:{collective}", "open=0&sel=0:4000000000&at={at}", "ranks=1-2&steps=4-5"],
    "memory": ["from=1000000&to=90000000&device=1/CUDA/1&capacity=1", "piece={piece}", "ranks=1-2&steps=4-5"],
    "distributed": ["step=4&lateness=1", "ranks=1-2&steps=4"],
    "critical-path": ["what_if=gemm=0.5&rank=2", "ranks=1-2&steps=4-5"],
    "idle": ["measure=count&rank=2", "ranks=1-2&steps=4-5"],
    "call-tree": ["order=calls&time=host&zoom={call}&q=linear&rank=1&sort=name&filter=aten", "name=aten::mm", "ranks=1-2&steps=4-5"],
    "diff": ["job={job}&base={base}&by_function=1&q=linear&sort=name&filter=gemm", "ranks=1-2", "steps=4-5"],
    "tables": ["table=kernel_breakdown&sort=-sum_ns&filter=gemm&top=3&cols=name,sum_ns&definition=1", "ranks=1-2&steps=4-5"],
}
# Whose default is to be overruled where there are more ranks than are asked for by themselves.
JOBS_OF = {"distributed": ("seventeen_ranks",), "diff": ("training", "faster")}


def keys_read(view):
    """By what is the view's own in web/src."""
    name = view.replace("-", "_")
    texts = [path.read_text() for path in [SOURCES / "views" / f"{name}.tsx", *(SOURCES / "views" / name).glob("*.ts*")] if path.exists()]
    if view == "timeline":
        texts += [path.read_text() for path in (SOURCES / "timeline").glob("*.ts*")]
    text = "\n".join(texts)
    keys = set(re.findall(r'param\("(\w+)"\)', text)) | set(re.findall(r'(?:sort|filter|cols)Key="(\w+)"', text))
    return keys | {"rank"} if re.search(r"chosenRank\(\)|useOneRank\(\)", text) else keys


def test_all_keys_that_the_page_reads_are_here():
    assert set(FRAGMENTS) == {view for view, of in views.ALL if of != "agents"}
    left = {view: keys_read(view) - {pair.split("=")[0] for fragment in fragments for pair in fragment.split("&")} for view, fragments in FRAGMENTS.items()}
    assert not {view: keys for view, keys in left.items() if keys}
    assert sum(len(keys_read(view)) for view in FRAGMENTS) > 40, "the page's sources are read otherwise"


def filled(jobs, place, fragment):
    """With what is only known of the simulated jobs."""
    def start():
        return min(row["start_ns"] for row in jobs.json("training", "spans"))

    def collective():
        return next(row for row in jobs.json("training", "spans", "--ranks", "0") if row["side"] == "device" and row["name"].startswith("nccl"))

    known = {
        "kernel": lambda: jobs.json("training", "kernel_breakdown")[1]["name"],
        "module": lambda: '["Transformer_0","TransformerBlock_0"]',
        "call": lambda: '["train.py(118): train_step"]',
        "collective": lambda: collective()["event"],
        "at": lambda: "{}+{}".format(collective()["start_ns"] - start(), collective()["dur_ns"]),
        "piece": lambda: max(jobs.json("training", "memory_events", "--ranks", "0"), key=lambda row: row["allocated_ns"] or 0)["allocated_ns"] - start(),
        "job": lambda: place.ask("v1/jobs", "jobs")[0]["id"],
        "base": lambda: place.ask("v1/jobs", "jobs")[1]["id"],
    }
    return re.sub(r"\{(\w+)\}", lambda match: str(known[match[1]]()), fragment)


def pairs_of(fragment):
    return [pair.partition("=")[::2] for pair in fragment.split("&")]


def address(view, pairs):
    return f"#/{view}?" + urllib.parse.urlencode([("v", "1"), *pairs])


def until_looks(page, wanted, patience_ms=5000):
    """What the page looks like, at the latest then: what moves is drawn and written a little later."""
    for _ in range(patience_ms // 200):
        if wanted(looks := page.evaluate(LOOKS)):
            break
        page.wait_for_timeout(200)
    return looks


def difference(one, other):
    """Where they begin to differ; the texts are too long to be printed."""
    at = next((at for at, (left, right) in enumerate(zip(one, other)) if left != right), min(len(one), len(other)))
    return "" if one == other else f"{one[max(0, at - 100):at + 100]!r} is not {other[max(0, at - 100):at + 100]!r}"


@pytest.mark.whole
@pytest.mark.parametrize(("view", "fragment"), [
    pytest.param(view, fragment, id=f"{view}-{re.sub('=[^&]*', '', fragment)}")
    for view, fragments in FRAGMENTS.items() for fragment in fragments])
def test_each_key_does_something_and_comes_back(jobs, open_page, view, fragment):
    place = jobs.server(*JOBS_OF.get(view, ("training",)))
    pairs = pairs_of(filled(jobs, place, fragment))
    first = open_page(place)
    watched.show(first, place, address(view, pairs))
    first.wait_for_timeout(600)
    watched.until_ready(first, view)
    assert first.locator("#view [role=alert]").count() == 0
    place_then = first.evaluate("() => location.hash")
    looks = first.evaluate(LOOKS)
    again = first.context.new_page()
    again.goto(place.at(place_then))
    watched.until_ready(again, view)
    assert difference(until_looks(again, lambda now: now == looks), looks) == ""
    assert again.evaluate("() => location.hash") == place_then
    idle = []
    for key, _ in pairs:
        watched.show(again, place, address(view, [pair for pair in pairs if pair[0] != key]))
        if until_looks(again, lambda now: now != looks) == looks:
            idle.append(key)
    assert not idle, "these do nothing"
