import threading
from contextlib import suppress

import pytest

from kgqa.limits.stopping import Stopped, each, go_on, until


def test_what_is_given_up_ends_where_it_asks() -> None:
    go_on()
    left = iter([False, False, True])
    with until(lambda: next(left)):
        go_on()
        go_on()
        with pytest.raises(Stopped, match="too long"):
            go_on()
    go_on()


def test_every_few_items_are_asked_about() -> None:
    asked: list[int] = []
    with until(lambda: bool(asked.append(1))):
        assert list(each(range(1_000))) == list(range(1_000))
    assert 2 <= len(asked) <= 20
    with until(lambda: True), pytest.raises(Stopped):
        list(each([1]))


def test_it_holds_for_the_thread_that_says_it() -> None:
    ended: list[bool] = []
    with until(lambda: True):
        thread = threading.Thread(target=lambda: ended.append(go_on() is None))
        thread.start()
        thread.join()
    assert ended == [True]
    with until(lambda: True):
        with until(lambda: False):
            go_on()
        with pytest.raises(Stopped):
            go_on()


def test_a_time_out_is_no_bad_input() -> None:
    """What a step catches as bad input, and reads otherwise, would swallow it."""
    with until(lambda: True), pytest.raises(Stopped), suppress(ValueError):
        go_on()
