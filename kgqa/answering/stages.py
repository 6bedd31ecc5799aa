"""What kgqa does with a question, in order: each stage takes drafts, and gives new ones that know more."""

from __future__ import annotations

from functools import partial

from kgqa.answering.computing import operate
from kgqa.answering.deciding import decide
from kgqa.answering.decision import Decision
from kgqa.answering.draft import Stage
from kgqa.answering.explaining import Scoring, attribute, explain
from kgqa.answering.gathering import gather
from kgqa.answering.reading import read
from kgqa.answering.retrieving import Retriever, retrieve
from kgqa.models.opening import LoadedReader


def stages(retriever: Retriever, reader: LoadedReader, decision: Decision) -> tuple[Stage, ...]:
    """Retrieve what the graph knows of it, read that with the passage, compute what is looked up, counted or compared,
    decide on one answer, explain it by what it rests on, gather the things that a span joins, attribute it to the facts
    without which it falls."""
    found = partial(retrieve, retriever=retriever)
    computed = partial(operate, retriever=retriever, reader=reader)
    bare = decision.bare(retriever.graph)
    scoring = Scoring(retriever, reader.settings, reader.score)
    all_stages = (
        Stage("retrieve", "question", "subgraphs", found),
        Stage("read", "subgraphs", "scores", partial(read, reader=reader, bare=bare)),
        Stage("compute", "scores", "computed", computed),
        Stage("decide", "scores", "candidates best", partial(decide, decision=decision)),
        Stage("explain", "best", "evidence", partial(explain, facts=reader.settings.facts)),
        Stage("gather", "best", "items", gather),
        Stage("attribute", "candidates evidence", "evidence", partial(attribute, scoring=scoring)),
    )
    left_out = set() if reader.settings.branches or reader.forms else {"compute"}
    left_out |= {"attribute"} if reader.network.reasoner.decodes_paths else set()
    return tuple(stage for stage in all_stages if stage.name not in left_out)
