"""A tab on the app: opened, waited for until nothing changes, looked at."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from apps.texts import text

CHROMIUM = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
MARKS = [
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),  # one server and one Chromium at a time
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium"),
]
Form = tuple[int, str, str]  # width in pixels, colour scheme, language
FORM = {"desk": (1440, "light", "en"), "phone": (390, "dark", "ko")}
FORMS = pytest.mark.parametrize("form", FORM.values(), ids=FORM)
DESK, PHONE = (pytest.mark.parametrize("form", [form], ids=[name]) for name, form in FORM.items())
"""For a journey whose steps are the same in each form: each form is that of some."""
WIDTHS = {390: 844, 768: 1024, 1440: 900}
"""Of a phone, a tablet and a desk, each with its height."""
LANGUAGES = pytest.mark.parametrize("form", [(390, "light", "en"), (390, "dark", "ko")], ids=["en", "ko"])
"""For what is done once in each language, and then looked at in each width."""
SETTLED = """() => {
    const busy = document.querySelector("[data-testid=stApp]")?.dataset.testScriptState !== "notRunning"
        || document.querySelector("[data-stale=true], [data-testid=stSkeleton], [data-testid=stSpinner]")
        || [...document.querySelectorAll("[data-testid=stVegaLiteChart]")].some(chart => !chart.querySelector("svg"))
        || document.getAnimations().some(move => move.playState === "running"
            && move.effect.getComputedTiming().endTime < Infinity);
    if (busy) window.busyAt = performance.now();
    return performance.now() - window.busyAt > 400;
}"""
"""The page has run to its end, all of it is drawn and nothing moves, and so it has been for a while: a click may start
it again, and one on what moves is lost."""


def settled(page: Any) -> None:
    """Wait until nothing changes: what is typed into a page that still runs may be lost, faded text has no contrast."""
    page.evaluate("window.busyAt = performance.now()")
    page.wait_for_function(SETTLED, polling=100)


def gone(page: Any, selector: str) -> None:
    """Wait until nothing matches; while the page is drawn anew an element may stand there twice."""
    page.wait_for_function("selector => !document.querySelector(selector)", arg=selector)


def asked(page: Any, question: str) -> None:
    """Wait until a question is in the address and its answer there, not only the answer before it."""
    page.wait_for_function("asked => new URL(location).searchParams.get('q') === asked", arg=question)
    page.locator("[role=status][aria-live]").first.wait_for()
    settled(page)


def go_to(page: Any, url: str) -> None:
    page.goto(url)
    page.locator("h1").first.wait_for()
    settled(page)


def visit(page: Any, address: str, form: Form, path: str = "") -> Callable[..., str]:
    """Open a page in a form; what the app says in its language, by key."""
    width, scheme, language = form
    take_form(page, width, scheme)
    go_to(page, f"{address}/{path}?lang={language}")
    return partial(text, language=language)


def take_form(page: Any, width: int, scheme: str) -> None:
    """Make the window as wide, and take a colour scheme; an open page follows both."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 844 if width < 500 else 900})


def fits(page: Any) -> bool:
    """Whether the page is no wider than its window: nothing to scroll sideways."""
    return bool(
        page.evaluate(
            """[document.documentElement, document.querySelector("[data-testid=stMain]")]
            .every(whole => whole.scrollWidth <= whole.clientWidth + 1)"""
        )
    )


def is_said_in(text: str, say: Any) -> bool:
    """Whether a text is in the page's language."""
    return bool(re.search("[가-힣]", text)) == bool(re.search("[가-힣]", say("ask")))


def at_each_width(page: Any) -> Iterator[int]:
    """Make the window as wide as a phone, a tablet and a desk, one after the other; nothing is cut in any."""
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        settled(page)
        assert fits(page)
        yield width


def ask_example(page: Any, number: int) -> None:
    page.locator(f".st-key-example{number} button").click()
    page.locator("[role=status][aria-live]").first.wait_for()
    page.locator("svg g.node").first.wait_for()
    settled(page)


def downloaded(page: Any, button: Any) -> bytes:
    settled(page)
    with page.expect_download() as download:
        button.click()
    return Path(download.value.path()).read_bytes()


def violations(page: Any, axe: Any) -> list[tuple[str, str]]:
    """What axe-core finds that is still there after two seconds: words that fade in are pale at first."""
    found: list[tuple[str, str]] = []
    for _ in range(5):
        violations = axe.Axe().run(page).response["violations"]
        found = [(one["id"], one["nodes"][0]["html"][:200]) for one in violations]
        if not found:
            break
        page.wait_for_timeout(500)
    return found
