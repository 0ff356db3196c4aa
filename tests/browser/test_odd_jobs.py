"""Jobs that lack something: each view says what is missing, and shows the rest."""

import re

import pytest

import odd_jobs
import views
import watched

NO_NUMBER = re.compile(r"\b(?:NaN|undefined|Infinity(?! Fabric))\b|\[object ")
# What a view says, and what is said of it to who points at it or does not see it.
ALL_TEXT = """() => [document.body.innerText, ...[...document.querySelectorAll("#view [title], #view [aria-label]")].flatMap((one) => [one.title, one.ariaLabel ?? ""]),
  ...[...document.querySelectorAll("#view title, #view text")].map((one) => one.textContent),
  ...[...document.querySelectorAll("#view [style], #view svg *")].flatMap((one) => [...one.attributes].filter((each) => !["class", "href", "title"].includes(each.name)).map((each) => each.value))].join("\\n")"""


def put(jobs, name):
    jobs.put(name, odd_jobs.ODD[name][0]())
    return name


def wrong_in(page, place, name, fragment=""):
    found = []
    for view in views.of(place.kind):
        if view == "diff" and place.kind == "report":
            continue
        watched.show(page, place, f"#/{view}?v=1{fragment}")
        if (alert := page.locator("#view [role=alert]")).count():
            found.append(f"{view}: {alert.first.inner_text()}")
        text = page.evaluate(ALL_TEXT)
        found += [f"{view}: {text[max(0, match.start() - 60):match.end() + 20]!r}" for match in NO_NUMBER.finditer(text)][:3]
        if (wanted := odd_jobs.ODD[name][1].get(view)) and wanted not in page.locator("#view").inner_text():
            found.append(f"{view} does not say {wanted!r}: {page.locator('#view').inner_text()[:400]!r}")
        if page.locator("#view").inner_text().strip() == "":
            found.append(f"{view}: nothing")
    return found


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name == "empty" else pytest.mark.whole) for name in odd_jobs.ODD])
def test_a_server_says_what_is_missing(jobs, open_page, name):
    place = jobs.server(put(jobs, name))
    wrong = wrong_in(open_page(place), place, name)
    assert not wrong, "\n".join(wrong)


@pytest.mark.whole
@pytest.mark.parametrize("name", odd_jobs.ODD)
def test_a_report_says_what_is_missing(jobs, open_page, name):
    place = jobs.report(put(jobs, name))
    wrong = wrong_in(open_page(place), place, name)
    assert not wrong, "\n".join(wrong)


def test_communication_that_was_not_recorded_is_not_known(jobs, open_page):
    jobs.put("launched_collectives", {f"rank{rank}.json": odd_jobs.trace(odd_jobs.launched_collectives(), rank, **odd_jobs.GPU) for rank in range(2)})
    page = open_page(jobs.server("launched_collectives"), "#/distributed?v=1")
    assert page.locator(".answer").inner_text().startswith("Communication that nothing hides takes a time that is not known; waiting for other ranks a time that is not known")
    bars = page.get_by_role("group", name="Time of each rank").locator("tbody tr")
    assert bars.count() == 2 and "0 ns" not in page.locator(".bars td.number").all_inner_texts()
    labels = bars.locator("svg").evaluate_all("(all) => all.map((one) => one.ariaLabel)")
    assert not any(re.search(r"\b0 ns", label) for label in labels), labels
    assert "Kernels of communication were not recorded on all ranks" in page.locator("#view").inner_text()


def losses(page):
    return page.locator("ul.notes li.loss").count()


def test_notes_are_of_the_job_that_is_shown(jobs, open_page):
    jobs.put("cut_off", {"rank0.json": odd_jobs.trace(odd_jobs.passes(), 0, **odd_jobs.GPU)[:-400]})
    place = jobs.server("cut_off", "two_ranks")
    broken, whole = (row["id"] for row in sorted(place.ask("v1/jobs", "jobs"), key=lambda row: row["folder"]))
    page = open_page(place, f"#/kernels?v=1&job={broken}")
    assert losses(page) == 2
    for view in ("overview", "kernels"):
        watched.show(page, place, f"#/{view}?v=1&job={whole}")
        assert losses(page) == 0, view
    watched.show(page, place, f"#/kernels?v=1&job={broken}")
    assert losses(page) == 2
