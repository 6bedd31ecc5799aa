"""Questions in Korean about facts, of every sort: known, told, unknown."""

from __future__ import annotations

from pathlib import Path

from kgqa.graph.load import open_graph
from kgqa.trainer.data.generated import KoreanQuestions
from kgqa.types import Source

TURTLE = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix : <https://kgqa.org/relation/> .
@prefix e: <https://example.org/> .
e:dig rdfs:label "dig"@en, "땅을 파다"@ko ; :HasInstrument e:shovel ; :MotivatedByGoal e:plant .
e:plant rdfs:label "plant flowers"@en, "꽃을 심다"@ko ; :HasInstrument e:trowel .
e:trowel rdfs:label "trowel"@en, "모종삽"@ko ; :AtLocation e:shed .
e:shovel rdfs:label "shovel"@en, "삽 (연장)"@ko .
e:shed rdfs:label "shed"@en, "헛간"@ko .
"""


def test_questions_of_facts(tmp_path: Path) -> None:
    (tmp_path / "garden.ttl").write_text(TURTLE, encoding="utf-8")
    maker = KoreanQuestions(open_graph(str(tmp_path / "garden.ttl")))
    made = list(maker(300))
    assert made == list(KoreanQuestions(maker.graph)(300))
    assert {example.source for example in made} == {Source.KNOWLEDGE, Source.PASSAGE, Source.NONE}
    known = {c for e in made for c in e.concepts}
    assert known == {"모종삽", "trowel", "삽", "shovel", "헛간", "shed", "꽃을 심다", "plant flowers"}
    to_plant = [
        e for e in made if e.concepts and "심으려고" in e.question.passage_text and e.kind == "HasInstrument"
    ]
    assert to_plant and all(e.concepts == ("모종삽", "trowel") for e in to_plant)
    reported = [e for e in made if e.spans]
    assert {e.question.passage_text[slice(*e.spans[0])] for e in reported} <= {"모종삽", "삽"}
    assert all(e.question.passage for e in reported)
