"""What kgqa does with a question, in order: each stage takes drafts, and gives new ones that know more."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from kgqa.answering.computing import compute
from kgqa.answering.deciding import Decision, decide
from kgqa.answering.draft import Drafts
from kgqa.answering.explaining import attribute, explain
from kgqa.answering.following import follow
from kgqa.answering.reading import read
from kgqa.answering.rereading import reread
from kgqa.answering.retrieving import Retriever, retrieve
from kgqa.answering.verifying import verify
from kgqa.models.opening import LoadedReader


class Stage(NamedTuple):
    """A step from drafts to drafts: the fields of a draft that it needs, those that it fills or changes."""

    name: str
    requires: str
    provides: str
    run: Callable[[Drafts], Drafts]


def stages(retriever: Retriever, reader: LoadedReader, decision: Decision) -> tuple[Stage, ...]:
    """Retrieve what the graph knows of it, read that with the passage, follow facts, read the best candidates again,
    verify yes, no and none, compute what is counted or compared, decide on one answer, explain it by what it rests on,
    and attribute it to the facts without which it falls."""
    graph, score, settings = retriever.graph, reader.score, reader.settings
    again = partial(
        reread, graph=graph, settings=settings, score=reader.score_many, weights=decision.second_opinion
    )
    reading = (
        Stage("read", "subgraphs", "scores", partial(read, reader=reader)),
        *(
            (
                Stage("follow", "scores", "scores reached", partial(follow, graph=graph, score=score)),
                Stage("reread", "scores reached", "scores", again),
            )
            if settings.reread
            else ()
        ),
        Stage(
            "verify",
            "scores",
            "scores sentence",
            partial(verify, similarity=reader.similarity, spans=reader.spans),
        ),
    )
    return (
        Stage(
            "retrieve",
            "question",
            "subgraphs",
            partial(retrieve, retriever=retriever, check_time=reader.check_time),
        ),
        *reading,
        Stage("compute", "scores sentence", "computed", partial(compute, graph=graph, score=score)),
        Stage("decide", "scores computed", "candidates best", partial(decide, decision=decision)),
        Stage("explain", "best", "evidence", partial(explain, facts=settings.facts)),
        Stage(
            "attribute",
            "candidates evidence",
            "evidence",
            partial(
                attribute, retriever=retriever, score=score, settings=settings, again=partial(run, reading)
            ),
        ),
    )


def run(stages: Sequence[Stage], drafts: Drafts) -> Drafts:
    """Drafts after all stages, with the time that each took, shared out evenly where it does not say itself."""
    for stage in stages:
        begin, before = time.perf_counter(), drafts
        drafts = stage.run(drafts)
        spent = 1000 * (time.perf_counter() - begin) / len(drafts)
        if drafts[0].timing_ms is before[0].timing_ms:
            drafts = tuple(draft.spent(**{stage.name: spent}) for draft in drafts)
    return drafts
