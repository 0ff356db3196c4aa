"""What is seen is in the address: a link shows it again, Back and Forward lead back and forth, old links go on working."""

import pytest

import views
import watched

# As they were written by this version; they must work for ever.
STORED_V1 = [
    ("#/tables?v=1&table=operators&sort=-host_sum_ns&filter=aten", "tables"),
    ("#/tables?v=1&table=kernel_breakdown&cols=name,sum_ns", "tables"),
    ("#/kernels?v=1&ranks=0,2-3&steps=4-5", "kernels"),
    ("#/timeline?v=1&from=1000000&to=90000000", "timeline"),
    ("#/overview?v=1&unknown=kept", "overview"),
]

STATE = """() => ({
  text: document.getElementById("view").innerText,
  fields: [...document.querySelectorAll("#view input, #view select, header input, header select")].map((one) => one.type === "checkbox" ? String(one.checked) : one.value),
  sorted: [...document.querySelectorAll("[aria-sort]:not([aria-sort=none])")].map((one) => one.textContent + one.ariaSort),
  place: decodeURIComponent(location.hash),
})"""
CHANGES = {
    "tables": [("table", "kernel_breakdown"), ("sort", "-sum_ns"), ("filter", "gemm"), ("cols", "name,sum_ns")],
    "timeline": [("from", "2000000"), ("to", "50000000"), ("q", "gemm")],
}


@pytest.mark.parametrize("view", views.of("report"))
def test_a_link_shows_the_same(jobs, open_page, view):
    place = jobs.report("training")
    fragment = f"#/{view}?v=1&ranks=1-2" + "".join(f"&{key}={value}" for key, value in CHANGES.get(view, []))
    first = open_page(place)
    watched.show(first, place, fragment)
    first.wait_for_timeout(600)  # what moves is written at most four times a second
    watched.until_ready(first, view)
    again = open_page(place, None)
    again.goto(place.at(first.evaluate("() => location.hash")))
    watched.until_ready(again, view)
    again.wait_for_timeout(600)
    assert again.evaluate(STATE) == first.evaluate(STATE)


def test_back_and_forward(jobs, open_page):
    place = jobs.report("training")
    page = open_page(place)
    names = [name for name in views.of("report") if name != "overview"][:4]
    for name in names:
        page.locator(f'nav.views a[href^="#/{name}?"]').click()
        watched.until_ready(page, name)
    for name in reversed(["overview", *names[:-1]]):
        page.go_back()
        watched.until_ready(page, name)
    for name in names:
        page.go_forward()
        watched.until_ready(page, name)


def test_typing_and_sorting_leave_no_trail(jobs, open_page):
    """Back goes to where one was, not to what a table was sorted by."""
    place = jobs.report("training")
    page = open_page(place)
    page.locator('nav.views a[href^="#/tables?"]').click()
    watched.until_ready(page, "tables")
    before = page.evaluate("() => history.length")
    header = page.locator("table[data-table] th button").first
    header.click()
    page.wait_for_function("() => /sort=/.test(location.hash)", timeout=2000)
    header.click()
    page.wait_for_timeout(400)
    assert page.evaluate("() => history.length") == before
    page.go_back()
    watched.until_ready(page, "overview")


def columns_shown(page):
    return page.locator("#view thead button").evaluate_all("(all) => all.map((one) => one.title.split(':')[0])")


def test_chosen_columns_are_in_the_address(jobs, open_page):
    """In the table's own order; names that it does not have are ignored; Back leads to where one was."""
    place = jobs.report("training")
    page = open_page(place, "#/tables?v=1&table=kernel_breakdown&cols=sum_ns,no_such,name")
    assert columns_shown(page) == ["name", "sum_ns"]
    before = page.evaluate("() => history.length")
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("checkbox", name="count", exact=True).check()
    page.get_by_role("checkbox", name="name", exact=True).uncheck()
    page.wait_for_function("() => /cols=count,sum_ns(&|$)/.test(decodeURIComponent(location.hash))")
    assert columns_shown(page) == ["count", "sum_ns"] and page.evaluate("() => history.length") == before
    page.locator('nav.views a[href^="#/kernels?"]').click()
    watched.until_ready(page, "kernels")
    page.go_back()
    watched.until_ready(page, "tables")
    assert columns_shown(page) == ["count", "sum_ns"]
    watched.show(page, place, "#/tables?v=1&table=kernel_breakdown&cols=no_such")
    assert len(columns_shown(page)) > 5


@pytest.mark.parametrize("fragment,view", STORED_V1)
def test_stored_links(jobs, open_page, fragment, view):
    page = open_page(jobs.report("training"), fragment)
    assert page.locator("#view [role=alert]").count() == 0
    watched.until_ready(page, view)
    kept = dict(pair.split("=") for pair in page.evaluate("() => decodeURIComponent(location.hash)").split("?")[1].split("&"))
    for pair in fragment.split("?")[1].split("&"):
        key, value = pair.split("=")
        if key not in ("from", "to"):  # a window goes to whole pixels
            assert kept[key] == value


def test_filters_follow_the_address(jobs, open_page):
    page = open_page(jobs.report("training"), "#/tables?v=1&table=operators")
    page.evaluate("() => (location.hash = '#/tables?v=1&table=operators&sort=name')")
    page.wait_for_selector("th[aria-sort=ascending]", timeout=500)
    page.evaluate("() => (location.hash = '#/tables?v=1&table=operators&sort=-name')")
    page.wait_for_selector("th[aria-sort=descending]", timeout=500)


def test_a_link_that_is_too_long_is_copied_without_marks_and_that_is_said(jobs, open_page):
    place = jobs.server("training")
    marks = ";".join(f"{number}000000-{number}500000:mine{number}" for number in range(100))
    page = open_page(place, f"#/timeline?v=1&open=0&marks={marks}", permissions=["clipboard-read", "clipboard-write"])
    said = page.locator("[role=status]", has_text="without your marks")
    assert said.count() == 0
    page.get_by_role("button", name="Copy link").click()
    said.wait_for()
    link = page.evaluate("() => navigator.clipboard.readText()")
    assert len(link) < 2000 and "open=0" in link and "mine" not in link and "mine99" in page.url
    page.locator('nav.views a[href^="#/kernels?"]').click()  # a place without marks
    watched.until_ready(page, "kernels")
    assert said.count() == 0


def test_what_is_left_is_said_and_removed(jobs, open_page):
    """A finding's link brings a filter of ranks; it does not stay unseen in the next view."""
    place = jobs.server("training")
    page = open_page(place)
    page.locator(".card.fault p.links a", has_text="Timeline of rank 3").click()
    watched.until_ready(page, "timeline")
    page.locator('nav.views a[href^="#/kernels?"]').click()
    watched.until_ready(page, "kernels")
    chip = page.locator("main .chosen button")
    assert chip.inner_text() == "rank 3 only ×"
    chip.click()
    page.wait_for_function("() => !/ranks=/.test(location.hash)")
    assert chip.count() == 0
    page.go_back()
    page.wait_for_function("() => /ranks=3/.test(location.hash)")
    assert chip.inner_text() == "rank 3 only ×"
    watched.show(page, place, "#/operators?v=1&ranks=0,2-3&steps=4")
    assert chip.all_inner_texts() == ["ranks 0,2-3 only ×", "step 4 only ×"]


def test_a_report_has_filters_in_its_timeline_alone(jobs, open_page):
    page = open_page(jobs.report("training"), "#/timeline?v=1&ranks=3")
    chip = page.locator("main .chosen button")
    assert chip.inner_text() == "rank 3 only ×"
    page.locator('nav.views a[href^="#/kernels?"]').click()
    watched.until_ready(page, "kernels")
    assert "ranks=" not in page.url and chip.count() == 0


def test_the_token_leaves_the_address(jobs, open_page):
    place = jobs.server("training")
    page = open_page(place, None)
    page.goto(place.at(f"#token={place.token}"))
    watched.until_ready(page, "overview")
    assert "token" not in page.url and place.token not in page.evaluate("() => document.documentElement.outerHTML")
    page.reload()
    watched.until_ready(page, "overview")
    assert page.locator("#view [role=alert]").count() == 0


def test_without_the_token_it_says_so(jobs, open_page):
    place = jobs.server("training")
    page = open_page(place, None, allow=["401"])
    page.goto(place.at())
    assert "token" in page.get_by_role("alert").first.inner_text()


def test_jobs_are_chosen(jobs, open_page):
    place = jobs.server("training", "faster")
    page = open_page(place)
    choice = page.locator("label.job select")
    names = choice.locator("option").all_inner_texts()
    assert len(names) == 2
    choice.select_option(index=1)
    page.wait_for_function("() => /job=/.test(location.hash)")
    watched.until_ready(page, "overview")
    page.go_back()
    page.wait_for_function("() => !/job=/.test(location.hash)")
