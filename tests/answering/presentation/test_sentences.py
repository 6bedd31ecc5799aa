from dataclasses import replace

from kgqa.answering.presentation.sentences import path_sentences, sentence, source_words
from kgqa.types import Answer, Evidence, EvidencePath, Question, Source, Subgraph


def test_facts_in_words(digging: Subgraph) -> None:
    assert sentence(digging, 0) == "a trowel is used to plant flowers"
    path = EvidencePath((1, 2), (True, False), 1.0)
    evidence = Evidence(paths=(path,), subgraph=digging)
    assert path_sentences(evidence, path)[1] == "an excavator is used to dig foundation"


def test_a_graph_of_ones_own_is_named() -> None:
    known = Answer(Question("Who?"), "Ann", Source.KNOWLEDGE, 0.9, graph="zoo")
    assert source_words(known) == "from the graph zoo"
    assert source_words(replace(known, graph="everyday")) == "from what is commonly known"
    assert source_words(replace(known, source=Source.PASSAGE)) == "read in the passage"
