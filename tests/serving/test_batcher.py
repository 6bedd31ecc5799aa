import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from kgqa.limits.cancellation import Cancelled
from kgqa.serving.batcher import ANSWER, APART, BATCH_S, KNOWN_AFTER, Batcher, Busy
from kgqa.types import Answer, InputError, Passage, Question


@pytest.fixture
def batcher() -> Iterator[Batcher]:
    batcher = Batcher()
    yield batcher
    batcher.close(0.5)


def ask(
    batcher: Batcher, stub, question: Question, timeout_s: float = 10.0, within_s: float = 10.0
) -> Future[Answer]:
    return batcher.ask(stub.answer_many, [question], timeout_s, within_s)[0]


def test_questions_that_wait_together_are_read_together_and_not_mixed(stub) -> None:
    sizes: list[int] = []
    batcher = Batcher(most=8, observe=sizes.append)
    stub.seconds = 0.05
    futures = [ask(batcher, stub, Question(f"q{i}")) for i in range(20)]
    assert [future.result(10).text for future in futures] == [f"to q{i}" for i in range(20)]
    assert sum(sizes) == 20 and 8 >= max(sizes) > 4 and len(sizes) <= 6
    batcher.close()
    with pytest.raises(Busy):
        ask(batcher, stub, Question("late"))


def test_long_and_short_are_read_apart(stub) -> None:
    batcher = Batcher(wait_s=0.1)
    asked = [Question("a"), Question("b", passage=Passage("long " * 2_000)), Question("c")]
    for future in [ask(batcher, stub, question) for question in asked]:
        future.result(10)
    assert stub.batches == [["a", "c"], ["b"]]
    batcher.close()


def test_one_that_cannot_be_read_fails_alone(stub) -> None:
    batcher = Batcher(wait_s=0.1)
    good, bad, other = (ask(batcher, stub, Question(text)) for text in ("a", " ", "b"))
    assert good.result(10).text == "to a" and other.result(10).text == "to b"
    with pytest.raises(InputError, match="empty"):
        bad.result(10)
    batcher.close()


def test_who_leaves_or_waits_too_long_is_given_up(batcher: Batcher, stub) -> None:
    stub.seconds = 5
    began = time.monotonic()
    gone = ask(batcher, stub, Question("gone"), 60)
    threading.Timer(0.1, gone.cancel).start()
    late = ask(batcher, stub, Question("late", passage=Passage("long " * 2_000)), 2)
    with pytest.raises(Cancelled, match="too long"):
        late.result(10)
    assert time.monotonic() - began < 4


def test_no_more_wait_than_are_taken_and_a_close_answers_them(stub) -> None:
    batcher = Batcher(most=1, most_waiting=3)
    stub.seconds = 0.1
    futures = [ask(batcher, stub, Question("first"))]
    time.sleep(0.05)
    futures += [ask(batcher, stub, Question(f"q{i}")) for i in range(3)]
    with pytest.raises(Busy):
        ask(batcher, stub, Question("too many"))
    batcher.close()
    assert all(future.done() for future in futures)


def test_a_close_gives_up_what_does_not_end(stub) -> None:
    batcher = Batcher(most=1)
    stub.seconds = 60
    futures = [ask(batcher, stub, Question(f"q{i}"), 300) for i in range(5)]
    began = time.monotonic()
    batcher.close(0.5)
    assert time.monotonic() - began < 3 and not batcher._thread.is_alive()
    for future in futures:
        with pytest.raises((Busy, Cancelled)):
            future.result(1)


def test_what_would_not_begin_in_time_is_refused_at_once(stub) -> None:
    batcher = Batcher(most=4)
    stub.seconds = 0.2
    for _ in range(5):  # it learns how long a batch takes
        ask(batcher, stub, Question("a")).result(10)
    taken, refused, waited = [], 0, []
    end = time.monotonic() + 4
    while time.monotonic() < end:
        begin = time.monotonic()
        try:
            future = ask(batcher, stub, Question("a"), 30, 0.5)
        except Busy as busy:
            refused += 1
            assert 0.5 < busy.wait_s < 10 and time.monotonic() - begin < 0.1
        else:
            future.add_done_callback(lambda _, begin=begin: waited.append(time.monotonic() - begin))
            taken.append(future)
        time.sleep(0.01)
    for future in taken:
        future.result(10)
    assert refused > len(taken) > 5
    assert sorted(waited)[int(0.95 * len(waited))] < 0.5 + 2 * BATCH_S + 0.5
    batcher.close()


def test_who_is_sent_away_is_told_a_time_of_their_own(batcher: Batcher, stub) -> None:
    stub.seconds = 0.2
    for _ in range(5):
        ask(batcher, stub, Question("a")).result(10)
    stub.seconds = 60
    ask(batcher, stub, Question("a"), 3)
    time.sleep(0.2)
    waits = []
    for _ in range(100):
        with pytest.raises(Busy) as caught:
            ask(batcher, stub, Question("b"), 30, 0.0)
        waits.append(caught.value.wait_s)
    came = Counter(int(wait) for wait in waits)
    assert len(came) >= 8 and max(came.values()) < 30 and max(waits) < 12


def test_what_takes_longer_than_its_time_is_refused_for_good(batcher: Batcher, stub) -> None:
    stub.seconds = 0.3
    for _ in range(10):
        ask(batcher, stub, Question("a")).result(10)
    with pytest.raises(InputError, match="shorter"):
        ask(batcher, stub, Question("a", passage=Passage("long " * 20_000)), 5)


def test_what_fails_at_once_does_not_make_the_rest_look_fast(batcher: Batcher, stub) -> None:
    before = dict(batcher._pace)
    for _ in range(20):
        with pytest.raises(InputError):
            ask(batcher, stub, Question(" ")).result(10)
    assert batcher._pace == before


def test_who_asks_one_goes_before_who_asks_many_and_what_is_apart_is_read_by_itself(stub) -> None:
    batcher = Batcher(most=2)
    stub.seconds = 0.05
    many = [ask(batcher, stub, Question(f"many {i}"), 30, 15) for i in range(20)]
    one = ask(batcher, stub, Question("one"), 30, 1)
    (apart,) = batcher.ask(lambda questions: [q.text for q in questions], [Question("b")], 30, 1, APART)
    one.result(10)
    assert not many[-1].done() and apart.result(10) == "b"
    assert many[-1].result(10).text == "to many 19"
    batcher.close()


def test_what_took_long_once_is_tried_again_by_who_comes_alone(batcher: Batcher, stub) -> None:
    long = Question("a", passage=Passage("long " * 2_000))
    stub.seconds = 0.01
    ask(batcher, stub, Question("a")).result(10)
    batcher._pace[ANSWER] = 1.0  # the machine had other things to do
    assert ask(batcher, stub, long, 5).result(10).text == "to a"


def test_nobody_is_sent_away_for_longer_than_what_is_read_may_take(batcher: Batcher, stub) -> None:
    ask(batcher, stub, Question("a")).result(10)
    batcher._pace[ANSWER] = 1.0
    stub.seconds = 60
    ask(batcher, stub, Question("a", passage=Passage("long " * 2_000)), 3)
    time.sleep(0.2)
    with pytest.raises(Busy) as caught:
        ask(batcher, stub, Question("b"), 30, 0.5)
    assert caught.value.wait_s <= 3


def test_how_long_is_guessed_of_what_was_never_done(batcher: Batcher, stub) -> None:
    stub.seconds = 0.3
    for _ in range(KNOWN_AFTER):
        ask(batcher, stub, Question("a")).result(10)
    with pytest.raises(InputError, match="shorter"):
        batcher.ask(stub.answer_many, [Question("a", passage=Passage("long " * 5_000))], 30, 1, APART)


def test_a_start_that_was_starved_does_not_say_what_takes_too_long(batcher: Batcher, stub) -> None:
    long = Question("a", passage=Passage("long " * 2_000))
    stub.seconds = 1.0
    ask(batcher, stub, Question("a")).result(10)
    stub.seconds = 0.01
    assert ask(batcher, stub, long, 5).result(10).text == "to a"
