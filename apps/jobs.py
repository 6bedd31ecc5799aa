"""Jobs that take longer than a second: run in a thread with a progress bar; can be stopped or left at any time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import streamlit as st

from apps.resources import say
from kgqa.limits.cancellation import Cancelled, cancel_when

Part = TypeVar("Part")
SHOWN_EVERY_S = 0.1


class Job(Generic[Part]):
    """Parts of a job, run one after the other in a thread; it continues while its visitor looks at other pages.

    A part may set `note` to say what it is doing.
    """

    def __init__(self, parts: Sequence[Callable[[], Part]], words: str) -> None:
        self.parts, self.words, self.note = parts, words, ""
        self.results: list[Part] = []
        self.error: Exception | None = None
        self.is_stopped = False
        self._thread = threading.Thread(target=self._work, name="kgqa-job", daemon=True)
        self._thread.start()

    @property
    def runs(self) -> bool:
        """Whether it is still running."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Stop it after the current part; finished parts are kept."""
        self.is_stopped = True

    def _work(self) -> None:
        try:
            with cancel_when(lambda: self.is_stopped):
                for part in self.parts:
                    if self.is_stopped:
                        return
                    self.results.append(part())
        except Cancelled:
            pass
        except Exception as error:
            self.error = error


def follow(job: Job[Any], each: Callable[[], object] = lambda: None) -> None:
    """Show a job's progress with a Stop button until it ends; `each` is called whenever a part is done. Raises what one
    of its parts raised.
    """
    place, done = st.empty(), -1
    with place.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, job.words)
        st.button(say("stop"), on_click=job.stop, key=f"stop{id(job)}", icon=":material/stop_circle:")
    while job.runs:
        if len(job.results) > done:
            done = len(job.results)
            each()
        count = say("answering", done=done, total=len(job.parts)) if len(job.parts) > 1 else ""
        bar.progress(done / len(job.parts), " ".join(filter(None, (job.note or job.words, count))))
        job._thread.join(SHOWN_EVERY_S)
    place.empty()
    if job.error is not None:
        raise job.error


def worked(words: str, work: Callable[[Job[Part]], Part], key: object = None) -> Part | None:
    """The result of a single piece of work, under the same progress bar; None if it was stopped.

    A click or a component's message ends a run of the page's script and starts another: work with the same `key`
    continues in it, any other is stopped. Raises what the work raised.
    """
    state = st.session_state
    before, job = state.get("job", (None, None))
    if job is None or key is None or before != key:
        if job is not None:
            job.stop()
        box: list[Job[Part]] = []
        ready = threading.Event()

        def part() -> Part:
            ready.wait()
            return work(box[0])

        job = Job([part], words)
        state["job"] = key, job
        box.append(job)
        ready.set()
        job._thread.join(SHOWN_EVERY_S)  # no progress bar flickers for quick work
    try:
        if job.runs and not job.is_stopped:
            follow(job)
        elif job.error is not None:
            raise job.error
    except Exception:
        del state["job"]
        raise
    del state["job"]
    return job.results[0] if job.results and not job.is_stopped else None
