"""What somebody asks who opens a job for the first time is answered where he looks first."""

import collections
import re

import harness

import watched


def test_the_kernels_begin_with_the_largest_and_the_line_that_launches_it(jobs, open_page):
    sums = collections.Counter()
    for row in jobs.json("training", "kernel_breakdown"):
        if row["name"] != "others":
            sums[row["name"]] += row["sum_ns"]
    (name, time), = sums.most_common(1)
    page = open_page(jobs.report("training"), "#/kernels?v=1")
    answer = page.locator("#view .answer").first
    kernel = answer.locator("a:has(strong)")
    assert answer.inner_text().startswith("The largest kernel:") and kernel.get_attribute("title") == name
    assert answer.locator(f'[title="{time} ns"]').count() == 1
    line = answer.locator(".source").first.locator("[title]").first
    assert re.search(r"\.py:\d+$", line.inner_text()) and re.search(r"\.py:\d+ in \w+$", line.get_attribute("title"))
    kernel.click()
    watched.until_ready(page, "kernels")
    assert page.locator("section[aria-labelledby=kernel] code").first.get_attribute("title") == name


@harness.needs_shared()
def test_a_job_that_waits_for_data_has_a_card_that_says_so_first(jobs, open_page):
    folder = harness.SHARED / "traces" / "pytorch_2_13_cpu" / "dataloader_shapes"
    page = open_page(jobs.report(str(folder)))
    card = page.locator("#view .card").first
    assert card.get_attribute("data-mechanism") == "data_loading" and "fault" in card.get_attribute("class").split()
    said = card.inner_text()
    assert "data loading" in said and re.search(r"waits .* for its next batch", said) and "num_workers" in said, said
