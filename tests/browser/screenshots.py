"""Screenshots beside stored ones. They are compared only with those of the same Chromium and the same fonts, whose letters
are the same; the new ones lie in build/screenshots in any case. Stored are they as WebP without loss, which is a third of
PNG."""

import functools
import subprocess

import harness
from PIL import Image, ImageChops

STORED = harness.ROOT / "tests" / "browser" / "screenshots"
MADE = harness.ROOT / "build" / "screenshots"
MAKER = STORED / "made_with.txt"
MOST_SHARE = 0.001  # of all pixels
SAME_COLOUR = 2  # of 255


@functools.cache
def maker(chromium):
    fonts = [subprocess.run(["fc-match", family], stdout=subprocess.PIPE, text=True, check=True).stdout.strip() for family in ("sans-serif", "monospace")]
    return "\n".join([f"Chromium {chromium}", *fonts]) + "\n"


def keep(page, name, renew, whole=False):
    """Fails the test where the stored one looks otherwise."""
    made = MADE / f"{name}.png"
    made.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=made, animations="disabled", caret="hide", full_page=whole)
    stored = STORED / f"{name}.webp"
    made_with = maker(page.context.browser.version)
    if renew:
        STORED.mkdir(exist_ok=True)
        MAKER.write_text(made_with)
        if not stored.exists() or differing_share(made, stored) > 0:
            with Image.open(made) as picture:
                picture.convert("RGB").save(stored, lossless=True)
    elif MAKER.exists() and MAKER.read_text() == made_with:
        assert stored.exists(), f"there is no stored screenshot {name}; tools/screenshots makes it"
        share = differing_share(made, stored)
        assert share <= MOST_SHARE, f"{share:.2%} of {made} is not as in {stored}; tools/screenshots renews it, then look at it"


def differing_share(one, other):
    with Image.open(one) as a, Image.open(other) as b:
        if a.size != b.size:
            return 1.0
        difference = ImageChops.difference(a.convert("RGB"), b.convert("RGB"))
        bands = [band.point(lambda value: 255 if value > SAME_COLOUR else 0) for band in difference.split()]
        most = ImageChops.lighter(ImageChops.lighter(bands[0], bands[1]), bands[2])
        return most.histogram()[255] / (a.width * a.height)
