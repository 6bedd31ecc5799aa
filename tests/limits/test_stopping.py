import threading

import pytest

from kgqa.limits.stopping import Stopped, each, go_on, until
from kgqa.types import InputError


def test_what_is_given_up_ends_where_it_asks() -> None:
    go_on()
    left = iter([False, False, True])
    with until(lambda: next(left)):
        go_on()
        go_on()
        with pytest.raises(Stopped, match="too long"):
            go_on()
    go_on()
    assert issubclass(Stopped, InputError)


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
