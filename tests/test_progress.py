import threading

import pytest

from kgqa import progress
from kgqa.progress import track


def test_items_come_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(track(range(3), "counting")) == [0, 1, 2]
    assert list(track(iter("ab"), "spelling", total=2)) == ["a", "b"]
    assert list(track({"a": 1}.items(), "naming")) == [("a", 1)]
    assert capsys.readouterr().out == ""


def test_what_is_left_in_the_middle_leaves_no_thread_and_no_display_behind() -> None:
    from rich.progress import Progress

    before = threading.active_count()
    left = track(range(3), "leaving")
    next(left)
    assert threading.active_count() == before
    with Progress() as bar:  # another display, whose thread closes what was left
        bar.add_task("drawing", total=1)
        closing = threading.Thread(target=left.close)
        closing.start()
        closing.join(10)
        assert not closing.is_alive()


def test_without_a_terminal_lines_tell_the_progress(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PROGRESS_EVERY_S", -1.0)
    assert list(track("ab", "reading")) == ["a", "b"]
    assert capsys.readouterr().err.splitlines() == ["reading: 1 of 2", "reading: 2 of 2"]
    assert list(track(iter("ab"), "reading")) == ["a", "b"]  # whose number is unknown
    assert capsys.readouterr().err.splitlines() == ["reading: 1", "reading: 2"]
