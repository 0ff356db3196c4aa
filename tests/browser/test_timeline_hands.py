"""What hands do to the timeline: each key, the wheel, the pointer over a counter, the button of arrows, the theme."""

import pytest

import watched
from test_timeline import made, small, until_window, window  # noqa: F401

pytestmark = pytest.mark.whole

PIXELS = "() => document.querySelector('.timeline canvas').toDataURL()"
FROM, TO = 100_000, 140_000


def at(page, fragment):
    page.evaluate("(fragment) => (location.hash = fragment)", fragment)


@pytest.mark.parametrize(("key", "moved"), [
    ("KeyS", (-0.1667, 0.1667)), ("KeyA", (-0.1, -0.1)), ("ArrowLeft", (-0.1, -0.1)), ("ArrowRight", (0.1, 0.1)), ("Shift+KeyA", (-0.5, -0.5)),
    ("Shift+KeyD", (0.5, 0.5)), ("Shift+ArrowRight", (0.5, 0.5)), ("Shift+KeyW", (0.3814, -0.3814))])
def test_a_key_moves_both_ends(small, key, moved):  # noqa: F811
    """By so much of the window's length; the middle stays where it zooms."""
    at(small, f"#/timeline?v=1&from={FROM}&to={TO}")
    until_window(small, FROM, TO)
    small.keyboard.press(key)
    small.wait_for_function("(from) => Number(document.querySelector('.timeline canvas').dataset.from) !== from", arg=FROM)
    found = [(end - begin) / (TO - FROM) for end, begin in zip(window(small), (FROM, TO))]
    assert found == pytest.approx(moved, abs=0.001)


def test_the_time_below_the_pointer_stays(small):  # noqa: F811
    """Where keys or the wheel with Ctrl zoom; without Ctrl the wheel leaves the window alone."""
    box = small.locator(".timeline canvas").bounding_box()
    left = small.locator(".timeline-heading").first.bounding_box()["width"]
    for how in ("KeyW", "KeyS", "in", "out"):
        at(small, f"#/timeline?v=1&from={FROM}&to={TO}")
        until_window(small, FROM, TO)
        small.mouse.move(box["x"] + left + (box["width"] - left) * 0.25, box["y"] + 200)
        small.mouse.wheel(0, 100)
        small.wait_for_timeout(100)
        assert window(small) == (FROM, TO)
        if how in ("in", "out"):
            small.keyboard.down("Control")
            small.mouse.wheel(0, -200 if how == "in" else 200)
            small.keyboard.up("Control")
        else:
            small.keyboard.press(how)
        small.wait_for_function("(from) => Number(document.querySelector('.timeline canvas').dataset.from) !== from", arg=FROM)
        begin, end = window(small)
        assert (end - begin < TO - FROM) == (how in ("KeyW", "in"))
        assert begin + (end - begin) * 0.25 == pytest.approx(FROM + (TO - FROM) * 0.25, abs=(TO - FROM) * 0.003), how
        small.wait_for_function("(from) => !location.hash.includes(`from=${from}&`)", arg=FROM)  # what moves is written a little later


def test_a_touch_that_scrolls_opens_and_closes_no_rank(made, open_page):  # noqa: F811
    page = open_page(made(300, 3), "#/timeline?v=1", has_touch=True)
    box, heading = page.locator(".timeline canvas").bounding_box(), page.locator('[data-track="0"]').bounding_box()
    x, y = box["x"] + box["width"] * 0.6, heading["y"] + heading["height"] / 2
    rank = page.locator('[data-track="0"] button[aria-expanded]')
    assert rank.get_attribute("aria-expanded") == "true"
    page.evaluate("() => addEventListener('pointercancel', () => (window.taken = true), true)")
    touch = page.context.new_cdp_session(page)
    for kind, lower in [("touchStart", 0), *[("touchMove", 15 * turn) for turn in range(1, 6)], ("touchEnd", None)]:
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [] if lower is None else [{"x": x, "y": y + lower}]})
    page.wait_for_function("() => window.taken", timeout=6000)
    assert rank.get_attribute("aria-expanded") == "true"
    y += page.locator('[data-track="0"]').bounding_box()["y"] - heading["y"]
    page.touchscreen.tap(x, y)
    page.wait_for_selector('[data-track="0"] button[aria-expanded=false]')


@pytest.fixture(scope="module")
def steps(jobs):
    """Of rank 3, from and to in ns from the job's first span."""
    start = min(row["start_ns"] for row in jobs.json("training", "spans"))
    return [(row["start_ns"] - start, row["start_ns"] - start + row["dur_ns"]) for row in jobs.json("training", "steps", "--ranks", "3")]


def test_a_digit_shows_its_step_and_an_arrow_scrolls_lanes(jobs, open_page, steps):
    page = open_page(jobs.server("training"), "#/timeline?v=1&open=3")
    page.locator('[data-track="3/d3/queue/7"]').wait_for()
    whole = window(page)
    for digit in (2, 4):
        page.keyboard.press("Digit0")
        until_window(page, *whole)
        page.keyboard.press(f"Digit{digit}")
        begin, end = steps[digit - 1]
        page.wait_for_function("(to) => Number(document.querySelector('.timeline canvas').dataset.to) - Number(document.querySelector('.timeline canvas').dataset.from) < to",
                               arg=whole[1] / 2)
        last = min(whole[1], end + (end - begin) * 0.1)
        assert window(page) == pytest.approx((last - (end - begin) * 1.2, last), abs=2)
    top = page.locator('[data-track="3/t20120"]').bounding_box()["y"]
    page.keyboard.press("ArrowDown")
    page.wait_for_function("() => document.querySelector('.timeline-lanes').scrollTop > 0")
    assert page.locator('[data-track="3/t20120"]').bounding_box()["y"] < top
    page.keyboard.press("ArrowUp")
    page.wait_for_function("() => document.querySelector('.timeline-lanes').scrollTop === 0")


def test_a_counter_has_the_value_of_its_series(jobs, open_page, steps):
    page = open_page(jobs.server("training"), "#/timeline?v=1&open=3")
    for track in ("path", "d3/busy", "d3/sm", "d3/queue/20", "d3/bandwidth/Memcpy-HtoD", "allocated/CUDA/3", "reserved/CUDA/3"):
        assert page.locator(f'[data-track="3/{track}"]').count() == 1, track
    start = min(row["start_ns"] for row in jobs.json("training", "spans"))
    series = [row for row in jobs.json("training", "queue_length_series", "--ranks", "3") if row["stream"] == 7]
    # Where one value holds for longest, so that a pixel has no other.
    length, here = max((after["time_ns"] - row["time_ns"], row) for row, after in zip(series, series[1:]) if row["queue_length"] > 3)
    begin = here["time_ns"] - start
    watched.show(page, jobs.server("training"), f"#/timeline?v=1&open=3&from={begin}&to={begin + length}")
    until_window(page, begin, begin + length, timeout=3000)
    box, heading = page.locator(".timeline canvas").bounding_box(), page.locator('[data-track="3/d3/queue/7"]').bounding_box()
    page.mouse.move(heading["x"] + heading["width"] + (box["x"] + box["width"] - heading["x"] - heading["width"]) / 2, heading["y"] + 10)
    page.wait_for_function("() => document.querySelector('.timeline-tools .hover').textContent !== ''")
    assert f"queue of stream 7: {here['queue_length']}" in page.locator(".timeline-tools .hover").inner_text()


def test_arrows_and_the_theme_are_painted(jobs, open_page, steps):
    begin, end = steps[0]
    page = open_page(jobs.server("training"), f"#/timeline?v=1&open=3&from={begin}&to={begin + (end - begin) // 20}")
    page.wait_for_timeout(300)
    plain = page.evaluate(PIXELS)
    button = page.get_by_role("button", name="Arrows", exact=True)
    button.click()
    page.wait_for_function(f"(plain) => ({PIXELS})() !== plain", arg=plain)
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    page.wait_for_function(f"(plain) => ({PIXELS})() === plain", arg=plain)
    corner = """() => {
      const canvas = document.querySelector(".timeline canvas"), one = new OffscreenCanvas(1, 1).getContext("2d");
      one.drawImage(canvas, 2 - canvas.width, 2 - canvas.height);
      return [...one.getImageData(0, 0, 1, 1).data];
    }"""
    light = page.evaluate(corner)
    page.get_by_role("button", name="Dark", exact=True).click()
    page.wait_for_function(f"(light) => String(({corner})()) !== String(light)", arg=light)
    assert sum(page.evaluate(corner)[:3]) < 150 < 600 < sum(light[:3])
    page.get_by_role("button", name="Light", exact=True).click()
    page.wait_for_function(f"(plain) => ({PIXELS})() === plain", arg=plain)
