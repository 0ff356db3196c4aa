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
        for name, place, fragment in (("overview", server, "#/overview?v=1"), ("timeline", server, "#/timeline?v=1"), ("report", report, "#/overview?v=1")):
            page = open_page(place, fragment, size=SIZE)
            page.screenshot(path=PICTURES / f"{name}.png", animations="disabled")
    for name in ("overview", "timeline", "report"):
        assert (PICTURES / f"{name}.png").stat().st_size < 400_000
