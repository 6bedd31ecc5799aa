import threading
import time

import pytest

from kgqa.serving.batching import Batcher, Busy
from kgqa.types import InputError, Passage, Question


def test_questions_that_wait_together_are_read_together_and_not_mixed(stub) -> None:
    sizes: list[int] = []
    batcher = Batcher(most=8, observe=sizes.append)
    stub.seconds = 0.05
    futures = [batcher.ask(stub, Question(f"q{i}"), 10) for i in range(20)]
    assert [future.result(10).text for future in futures] == [f"to q{i}" for i in range(20)]
    assert sum(sizes) == 20 and max(sizes) == 8 and len(sizes) <= 5
    batcher.close()
    with pytest.raises(Busy):
        batcher.ask(stub, Question("late"), 1)


def test_long_and_short_are_read_apart(stub) -> None:
    batcher = Batcher(wait_s=0.1)
    asked = [Question("a"), Question("b", passage=Passage("long " * 2_000)), Question("c")]
    for future in [batcher.ask(stub, question, 10) for question in asked]:
        future.result(10)
    assert stub.batches == [["a", "c"], ["b"]]
    batcher.close()


def test_one_that_cannot_be_read_fails_alone(stub) -> None:
    batcher = Batcher(wait_s=0.1)
    good, bad, other = (batcher.ask(stub, Question(text), 10) for text in ("a", " ", "b"))
    assert good.result(10).text == "to a" and other.result(10).text == "to b"
    with pytest.raises(InputError, match="empty"):
        bad.result(10)
    batcher.close()


def test_who_leaves_or_waits_too_long_is_given_up(stub) -> None:
    batcher = Batcher()
    stub.seconds = 5
    began = time.monotonic()
    gone = batcher.ask(stub, Question("gone"), 60)
    threading.Timer(0.1, gone.cancel).start()
    late = batcher.ask(stub, Question("late", passage=Passage("long " * 2_000)), 0.3)
    with pytest.raises(InputError, match="too long"):
        late.result(10)
    assert time.monotonic() - began < 4
    batcher.close()


def test_no_more_wait_than_are_taken_and_a_close_answers_them(stub) -> None:
    batcher = Batcher(most=1, most_waiting=3)
    stub.seconds = 0.1
    futures = [batcher.ask(stub, Question("first"), 10)]
    time.sleep(0.05)
    futures += [batcher.ask(stub, Question(f"q{i}"), 10) for i in range(3)]
    with pytest.raises(Busy):
        batcher.ask(stub, Question("too many"), 10)
    batcher.close()
    assert all(future.done() for future in futures)
