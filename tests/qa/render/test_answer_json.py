import json

from kgqa.qa.render import FactAttribution, answer_json, attributions_json, json_lines
from kgqa.types import Answer, Candidate, Evidence, EvidencePath, Item, Question, Source, Span, Subgraph


def test_the_json_answer_has_its_stable_keys(digging: Subgraph) -> None:
    path = EvidencePath((0,), (False,), 0.5)
    best = Candidate("trowel", Source.KNOWLEDGE, 0.8, concept="ev:trowel")
    answer = Answer(
        Question("what", id="7"),
        "trowel",
        Source.KNOWLEDGE,
        0.8,
        (best,),
        Evidence(paths=(path,), subgraph=digging),
    )
    found = answer_json(answer)
    assert list(found) == [
        "id",
        "question",
        "answer",
        "source",
        "confidence",
        "reason",
        "care",
        "candidates",
        "items",
        "evidence",
        "timing_ms",
        "model",
        "graph",
    ]
    (triple,) = found["evidence"]["paths"][0]["triples"]
    assert triple["head"] == "trowel" and triple["iri"][0] == "ev:trowel"
    assert found["candidates"][0]["concept"] == "ev:trowel"
    (line,) = json_lines([answer])
    assert line.endswith("\n") and json.loads(line) == json.loads(json.dumps(found))
    (attribution,) = attributions_json(answer, [FactAttribution(0, "a fact", 0.25)])
    assert attribution == {"sentence": "a fact", "change": 0.25, "iri": list(attribution["iri"])}
    assert attribution["iri"][0] == "ev:trowel"


def test_several_things_are_told_each_with_its_facts_or_its_place(digging: Subgraph) -> None:
    first, second = EvidencePath((0,), (False,), 0.5), EvidencePath((2,), (False,), 0.4)
    items = (Item("trowel", "ev:trowel", path=first), Item("excavator", "ev:excavator", path=second))
    best = Candidate("trowel", Source.KNOWLEDGE, 0.8, concept="ev:trowel")
    answer = Answer(
        Question("what"),
        "trowel, excavator",
        Source.KNOWLEDGE,
        0.8,
        (best,),
        Evidence(paths=(first,), subgraph=digging),
        items=items,
    )
    found = answer_json(answer, full=True)
    brief = answer_json(answer)
    size = found["evidence"]["subgraph"]["size"]
    assert brief["evidence"].pop("subgraph") == {"nodes": [], "edges": [], "size": size}
    assert brief["evidence"].items() <= found["evidence"].items() and brief["items"] == found["items"]
    assert [item["text"] for item in found["items"]] == ["trowel", "excavator"]
    assert found["items"][1]["path"]["triples"][0]["iri"][0] == "ev:excavator"
    assert {"ev:trowel", "ev:excavator"} <= {node["iri"] for node in found["evidence"]["subgraph"]["nodes"]}
    assert answer.best == "trowel" and not answer.runners_up
    spans = answer_json(
        Answer(Question("what"), "a and b", Source.PASSAGE, 0.5, items=(Item("a", span=Span(0, 1)),))
    )
    assert spans["items"] == [{"text": "a", "concept": None, "span": [0, 1], "path": None}]
