"""The question answering pipeline: a list of steps, each a function from states to states."""

from __future__ import annotations

from functools import partial

from kgqa.models.load import LoadedReader
from kgqa.qa.compute import compute
from kgqa.qa.decide import DecisionConfig, aggregate, decide, disregard
from kgqa.qa.explain import attribute, explain, ground
from kgqa.qa.gloss import gloss
from kgqa.qa.passages.amounts import compute_amounts
from kgqa.qa.passages.compare import compare
from kgqa.qa.read import read, reword
from kgqa.qa.retrieve import Retriever, retrieve
from kgqa.qa.state import QAStates, Step
from kgqa.qa.verify import verify


def default_pipeline(
    retriever: Retriever, reader: LoadedReader, decision: DecisionConfig, english: LoadedReader | None = None
) -> tuple[Step, ...]:
    """The default steps, in order (described in ARCHITECTURE.md); `english` is the gloss step's English reader."""
    found = partial(retrieve, retriever=retriever)
    graph_free = partial(decision.graph_free, retriever.graph)
    attributing = partial(attribute, retriever=retriever, score=reader.score)
    reading = partial(read, reader=reader, graph_free=graph_free, similarity=retriever.similarity)
    deciding = partial(decide, decision=decision, closed_world=retriever.graph.closed_world)
    weighted = partial(gloss, share=decision.gloss if english else 0.0)
    both = partial(read, reader=english or reader)
    glosses = partial(weighted, reading=both, graph=retriever.graph, language=retriever.language_of)

    def alone(states: QAStates) -> QAStates:
        return reading(found(states))

    grounded = partial(ground, deciding=lambda states: deciding(alone(states)))
    rewording = partial(reword, reading=alone, language=retriever.language_of, share=decision.rewording)
    all_steps = (
        Step("retrieve", "question", "subgraphs", found),
        Step("compute", "subgraphs", "computed", partial(compute, retriever=retriever, reader=reader)),
        Step("read", "subgraphs", "scores", reading),
        Step("gloss", "scores", "scores", glosses),
        Step("reword", "scores", "scores", rewording),
        Step("disregard", "scores", "scores", partial(disregard, alone=alone, share=decision.unrelated)),
        Step("compare", "scores", "computed", compare),
        Step("amounts", "question scores", "computed", partial(compute_amounts, reader=reader)),
        Step("decide", "scores", "candidates best", deciding),
        Step("explain", "best", "evidence", partial(explain, is_open_world=not retriever.graph.closed_world)),
        Step("ground", "best evidence", "source evidence", grounded),
        Step("verify", "best evidence", "best source evidence", partial(verify, graph=retriever.graph)),
        Step("aggregate", "best", "items", aggregate),
        Step("attribute", "candidates evidence", "evidence", attributing),
    )
    # logical forms are ranked as packed candidates, by the reader or by its adapter
    left_out = set() if reader.settings.packed or reader.forms else {"compute"}
    parts = {"amounts": reader.amounts, "gloss": english or reader.settings.multilingual}
    left_out |= {name for name, part in parts.items() if not part}
    # a reasoner that decodes paths explains its answers itself
    left_out |= {"attribute"} if reader.network.reasoner.decodes_paths else set()
    return tuple(step for step in all_steps if step.name not in left_out)
