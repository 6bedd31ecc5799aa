from pathlib import Path

import pytest

from kgqa.qa.answerer import Answerer
from kgqa.qa.render import Edit, add, edited_facts, remove, remove_answer, sentence
from kgqa.types import Answer, Candidate, Evidence, InputError, Passage, Question, Relation, Source, Subgraph

USED_FOR = Relation("http://example.org/usedFor", "used for", "is used for")


def test_what_if_there_were_no_such_thing(model_folder: Path, tools_file: Path) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    question = Question("What did I dig with?", (), Passage("I plant flowers."))
    (graph,) = answerer.retrieve(question)
    trowel = graph.labels.index("trowel")
    best = Candidate("trowel", Source.KNOWLEDGE, 0.5, concept=graph.nodes[trowel])
    answer = Answer(question, "trowel", Source.KNOWLEDGE, 0.5, (best,), Evidence(subgraph=graph))
    edits = remove_answer(answer)
    assert edits and all("trowel" in edit.labels and not edit.added for edit in edits)
    after = answerer.ask_again(question, edits)
    assert "trowel" not in [c.text for c in after.candidates]
    back = [Edit(e.triple, e.relation, e.labels) for e in edits]  # what is removed and added again is there
    restored = answerer.ask_again(question, [*edits, *back])
    assert "trowel" in restored.evidence.subgraph.labels


def test_words_of_a_fact_mean_the_graphs_concepts(model_folder: Path, tools_file: Path) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    edit = add(answerer.linker, "Excavator", USED_FOR, "a <purple> thing")
    assert edit.triple.head == "http://example.org/excavator"
    assert edit.triple.tail.startswith("urn:kgqa:added:") and "<" not in edit.triple.tail
    with pytest.raises(InputError, match="a head and a tail"):
        add(answerer.linker, " ", USED_FOR, "excavator")
    question = Question("What did I dig with?", (), Passage("I plant flowers."))
    answer = answerer.ask_again(
        question, [edit, add(answerer.linker, "excavator", USED_FOR, "plant flowers")]
    )
    output = [sentence(answer.evidence.subgraph, e) for e in range(len(answer.evidence.subgraph.edges))]
    assert "excavator is used for plant flowers" in output
    assert "excavator is used for plant flowers" not in [
        sentence(g, e) for g in answerer.retrieve(question) for e in range(len(g.edges))
    ]


def test_of_two_edits_of_one_fact_the_later_holds(digging: Subgraph) -> None:
    gone = remove(digging, 0)
    back = Edit(gone.triple, gone.relation, gone.labels)
    assert [list(map(len, edited_facts(edits))) for edits in ([gone], [gone, back])] == [[0, 1], [1, 0]]
