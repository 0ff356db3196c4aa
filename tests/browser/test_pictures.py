"""The README's pictures: made by tools/screenshots, and looked at."""

import pytest

import harness
import watched

PICTURES = harness.ROOT / "docs" / "pictures"
SIZE = (1280, 800)


@pytest.mark.whole
def test_pictures(jobs, open_page, request):
    server, report = jobs.server("training"), jobs.report("training")
    if request.config.getoption("renew"):
        PICTURES.mkdir(exist_ok=True)
        for view in ("overview", "timeline"):
            open_page(server, f"#/{view}?v=1", size=SIZE).screenshot(path=PICTURES / f"{view}.png", animations="disabled")
        # What a mail program shows of it.
        page = open_page(report, None, size=SIZE, script=False)
        page.goto(report.at())
        page.screenshot(path=PICTURES / "report.png")
    for name in ("overview", "timeline", "report"):
        assert (PICTURES / f"{name}.png").stat().st_size < 400_000
