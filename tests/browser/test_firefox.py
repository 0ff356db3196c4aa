"""The page and the report in another browser: a smoke test."""

import shutil

import pytest
from PIL import Image

import screenshots

pytestmark = pytest.mark.skipif(not shutil.which("firefox-esr"), reason="no firefox-esr")


@pytest.fixture(scope="module")
def firefox():
    import firefox
    running = firefox.Firefox()
    yield running
    running.stop()


READY = "document.documentElement.dataset.view === '{}' && 'ready' in document.documentElement.dataset"


@pytest.mark.parametrize("kind", ["report", "server"])
def test_views(jobs, firefox, kind):
    place = jobs.report("training") if kind == "report" else jobs.server("training")
    firefox.go(place.at(f"#token={place.token}" if place.token else "#/overview?v=1"))
    firefox.until("'ready' in document.documentElement.dataset")  # before that the token is still in the address
    for view in ("overview", "tables", "timeline"):
        firefox.evaluate(f"void (location.hash = '#/{view}?v=1')")
        firefox.until(READY.format(view))
        assert firefox.evaluate("document.querySelectorAll('#view [role=alert]').length") == 0
        picture = screenshots.MADE / f"firefox.{kind}.{view}.png"
        firefox.picture(picture)
        with Image.open(picture) as image:
            assert len(image.convert("RGB").getcolors(1 << 24)) > 20, "nearly nothing is painted"
    assert firefox.evaluate("document.querySelector('#view canvas') !== null")
    assert not firefox.problems()
