from __future__ import annotations

import json
import threading
from contextlib import suppress

import pytest
from tokenizers import Tokenizer, models

from kgqa.limits.cancellation import (
    Cancelled,
    cancel_when,
    cancellable,
    check_cancelled,
    is_panic,
    report_panics,
)
from kgqa.types import InputError


def test_what_is_given_up_ends_where_it_asks() -> None:
    check_cancelled()
    left = iter([False, False, True])
    with cancel_when(lambda: next(left)):
        check_cancelled()
        check_cancelled()
        with pytest.raises(Cancelled, match="too long"):
            check_cancelled()
    check_cancelled()


def test_every_few_items_are_asked_about() -> None:
    asked: list[int] = []
    with cancel_when(lambda: bool(asked.append(1))):
        assert list(cancellable(range(1_000))) == list(range(1_000))
    assert 2 <= len(asked) <= 20
    with cancel_when(lambda: True), pytest.raises(Cancelled):
        list(cancellable([1]))


def test_it_holds_for_the_thread_that_says_it() -> None:
    ended: list[bool] = []
    with cancel_when(lambda: True):
        thread = threading.Thread(target=lambda: ended.append(check_cancelled() is None))
        thread.start()
        thread.join()
    assert ended == [True]
    with cancel_when(lambda: True):
        with cancel_when(lambda: False):
            check_cancelled()
        with pytest.raises(Cancelled):
            check_cancelled()


def test_a_time_out_is_no_bad_input() -> None:
    """What a step catches as bad input, and reads otherwise, would swallow it."""
    with cancel_when(lambda: True), pytest.raises(Cancelled), suppress(ValueError):
        check_cancelled()


# What a Rust library that breaks down raises is told in one line.


TOKENIZER = json.loads(Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]")).to_str())
BAD = json.dumps(
    {**TOKENIZER, "normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}}
).encode()


def test_a_panic_is_told_in_one_line_and_all_else_passes() -> None:
    with (
        pytest.raises(InputError, match=r"(?s)\Aa\.json: a library crashed \([^\n]*\); save it again\Z"),
        report_panics("a.json", "save it again"),
    ):
        Tokenizer.from_buffer(BAD)
    for other in (KeyboardInterrupt, SystemExit, ValueError):
        with pytest.raises(other), report_panics("a.json", ""):
            raise other


def test_a_panic_is_no_exception() -> None:
    with pytest.raises(BaseException) as caught:
        Tokenizer.from_buffer(BAD)
    assert is_panic(caught.value) and not is_panic(RuntimeError()) and not is_panic(KeyboardInterrupt())
