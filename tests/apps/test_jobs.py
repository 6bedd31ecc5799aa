import threading
from typing import Any

import pytest

from apps import jobs
from apps.jobs import Job, worked
from kgqa.limits.cancellation import check_cancelled
from kgqa.types import InputError


def ended(job: Job[Any]) -> Job[Any]:
    job._thread.join(10)
    assert not job.runs
    return job


def test_parts_are_done_in_order_while_nobody_looks() -> None:
    assert ended(Job([lambda n=n: n for n in range(5)], "counting")).results == [0, 1, 2, 3, 4]


def test_what_was_done_before_it_was_stopped_is_kept() -> None:
    begun = threading.Event()

    def endless() -> int:
        begun.set()
        while True:
            check_cancelled()

    job = Job([lambda: 1, endless, lambda: 3], "counting")
    assert begun.wait(10)
    job.stop()
    assert ended(job).results == [1] and job.error is None


def test_bad_input_is_kept_to_be_told() -> None:
    def refused() -> int:
        raise InputError("no such file")

    job = ended(Job([refused], "reading"))
    assert isinstance(job.error, InputError) and not job.results
    with pytest.raises(InputError):
        raise job.error


class Rerun(BaseException):
    """What ends a run of the page."""


def test_work_goes_on_in_the_next_run_of_the_page_and_is_not_begun_again_once_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state: dict[str, Any] = {}
    monkeypatch.setattr(jobs, "SHOWN_EVERY_S", 0.0)
    monkeypatch.setattr(jobs.st, "session_state", state)
    begun, may_end = [], threading.Event()

    def work(_: Job[int]) -> int:
        begun.append(1)
        while not may_end.wait(0.01):
            check_cancelled()
        return 7

    def rerun(job: Job[Any]) -> None:
        raise Rerun

    monkeypatch.setattr(jobs, "follow", rerun)
    for _ in range(2):
        with pytest.raises(Rerun):
            worked("reading", work, "a question")
    monkeypatch.setattr(jobs, "follow", ended)
    may_end.set()
    assert worked("reading", work, "a question") == 7 and len(begun) == 1 and "job" not in state

    may_end.clear()
    monkeypatch.setattr(jobs, "follow", rerun)
    with pytest.raises(Rerun):
        worked("reading", work, "a question")
    first = state["job"][1]
    first.stop()  # as Stop does, before the page is run again
    assert worked("reading", work, "a question") is None
    with pytest.raises(Rerun):
        worked("reading", work, "a question")  # asked anew
    second = state["job"][1]
    with pytest.raises(Rerun):
        worked("reading", work, "another")
    assert ended(first).is_stopped and ended(second).is_stopped
    state["job"][1].stop()
