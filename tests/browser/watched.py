"""Pages in a browser that are watched: nothing may be said in the console, refused by the policy, or asked of anyone but the
page's own place."""

import contextlib

from jobs import Place

# Chromium's address bar has pages of its own, with hundreds of scripts, which it would load for each window beside the page that is looked at:
# the first two. The others are those that Playwright switches off, since of two such flags the last one counts.
OFF = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync",
       "DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay", "MediaRouter",
       "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch", "ThirdPartyStoragePartitioning"]
FLAGS = ["--no-sandbox", f"--disable-features={','.join(OFF)}", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb"]
PATIENCE_MS = 30_000  # of the tests, not of users: other tests run beside
WIDE, NARROW = (1280, 900), (390, 844)


@contextlib.contextmanager
def watched_page(browser, place: Place, *, size=WIDE, theme="light", script=True, bypass_csp=False, allow=(), **options):
    """A page that has not gone anywhere; at the end nothing may have gone wrong in it but what contains one of `allow`."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=theme, java_script_enabled=script,
                                  bypass_csp=bypass_csp, reduced_motion="reduce", device_scale_factor=1, **options)
    context.set_default_timeout(PATIENCE_MS)
    context.add_init_script("""
      window.refused = [];
      document.addEventListener("securitypolicyviolation", (event) => console.error("refused: " + event.violatedDirective + " " + event.blockedURI));
    """)
    problems = []
    context.on("request", lambda request: problems.append(f"asked {request.url}") if not allowed(place, request.url) else None)
    context.on("console", lambda said: problems.append(f"{said.type}: {said.text}") if said.type in ("error", "warning") else None)
    context.on("weberror", lambda error: problems.append(f"thrown: {error.error}"))
    try:
        yield context.new_page()
    finally:
        context.close()
    left = [problem for problem in problems if not any(one in problem for one in allow)]
    assert not left, "\n".join(left[:20])


HURRIED = """for (const name of ["setTimeout", "setInterval"]) {
  const own = window[name];
  window[name] = (act, after, ...more) => own(act, after >= 2000 ? after / 8 : after, ...more);
}"""


def hurried(page):
    """Before it goes anywhere: what it does again after some seconds it does eight times as often."""
    page.add_init_script(HURRIED)
    return page


def allowed(place, url):
    return place.owns(url) or url.startswith(("data:", "blob:"))


def until_ready(page, view=None, timeout=PATIENCE_MS):
    which = f'[data-view="{view}"]' if view else ""
    page.wait_for_selector(f"html{which}[data-ready]", state="attached", timeout=timeout)


def show(page, place: Place, fragment):
    """Goes to a view by its address, as a user's new tab does, or within the page."""
    view = fragment.removeprefix("#/").split("?")[0]
    if not place.owns(page.url):
        if place.kind == "server":
            page.goto(place.at(f"#token={place.token}"))
            until_ready(page)
        else:
            page.goto(place.at(fragment))
    if page.evaluate("() => location.hash") != fragment:
        # Readiness of what was shown before is no answer.
        page.evaluate("""(fragment) => new Promise((done) => {
          addEventListener("hashchange", () => requestAnimationFrame(() => setTimeout(done)), { once: true });
          location.hash = fragment;
        })""", fragment)
    until_ready(page, view)


# [count, [[place, {column: exact text}], ...]]: it scrolls through a long table, and of a very long one sees both ends.
READ_ROWS = """async ([name, most]) => {
  const table = document.querySelector(`table[data-table="${CSS.escape(name)}"]`);
  const region = table.closest(".scroll") ?? document.scrollingElement;
  const count = Number(table.getAttribute("aria-rowcount")) - 1;
  const rows = new Map();
  const take = () => {
    for (const row of table.querySelectorAll("tbody tr[aria-rowindex]")) {
      const cells = {};
      for (const cell of row.querySelectorAll("td[data-column]")) cells[cell.dataset.column] = cell.title || cell.textContent;
      rows.set(Number(row.getAttribute("aria-rowindex")) - 2, cells);
    }
  };
  const scrollTo = async (top) => {
    region.scrollTop = top;
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    take();
  };
  take();
  if (count > most) await scrollTo(region.scrollHeight);
  else for (let turn = 0; rows.size < count && turn * 600 < region.scrollHeight; ++turn) await scrollTo(turn * 600);
  return [count, [...rows]];
}"""
WHOLE = 3000  # rows


def shown_rows(page, table):
    """{place: {column: exact text}}, and how many there are."""
    page.wait_for_selector(f'table[data-table="{table}"], #view [role=alert]', state="attached")
    assert page.locator("#view [role=alert]").count() == 0, page.locator("#view [role=alert]").first.inner_text()
    count, rows = page.evaluate(READ_ROWS, [table, WHOLE])
    assert len(rows) == count or (count > WHOLE and len(rows) > 50)
    return dict(rows), count


# [{column: exact text}, ...] of a table that is in the document as a whole; of a cell without a title that of what is in it.
READ_PLAIN = """(name) => [...document.querySelectorAll(`table[data-table="${CSS.escape(name)}"] tbody tr`)].map((row) =>
  Object.fromEntries([...row.querySelectorAll("[data-column]")].map((cell) =>
    [cell.dataset.column, cell.title || cell.querySelector("[title]")?.title || cell.textContent])))"""


def plain_rows(page, table):
    page.wait_for_selector(f'#view table[data-table="{table}"] tbody tr')
    return page.evaluate(READ_PLAIN, table)


def is_equal(text, value):
    """Whether what a page shows exactly is this value of `--format json`."""
    if value is None:
        return text == "not known"
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, float):
        return text != "not known" and float(text) == value
    return text == str(value) or (value == "" and text == "not known")


def differences(page, table, expected):
    """What a page shows of a table, against its rows {column: value}; columns that are not shown are known in no row."""
    rows, count = shown_rows(page, table)
    if count != len(expected):
        return [f"{table}: {count} rows, not {len(expected)}"]
    return [f"{table} row {place}, {column}: {row.get(column)!r} is not {value!r}" for place, row in sorted(rows.items())
            for column, value in expected[place].items()
            if not (is_equal(row[column], value) if column in row else value is None)]
