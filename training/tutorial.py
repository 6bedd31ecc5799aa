"""From a custom graph to a reader of one's own, in about a minute of a CPU: python training/tutorial.py

1. a small RDF graph            2. questions made of its facts, some facts kept back
3. a recipe, and the training   4. the trained reader is asked about the facts that were kept back
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kgqa.graph.load import open_graph
from kgqa.qa.answerer import Answerer
from kgqa.trainer.finetuning.reader import ReaderRecipe, train_reader
from kgqa.types import Answer, KnowledgeGraph, Passage, Question

# 1. The graph. Nobody else knows its predicates, and it needs no labels: a local name such as `boneFolder` is read as
# "bone folder". What has an rdfs:label is called by that instead.
GRAPH = """
@prefix : <http://example.org/workshop#> .

:boneFolder :servesTo :foldTheSheets .        :foldTheSheets :takesPlaceIn :bindery .
:awl :servesTo :pierceTheFolds .              :pierceTheFolds :takesPlaceIn :bindery .
:sewingFrame :servesTo :sewTheSections .      :sewTheSections :takesPlaceIn :bindery .
:backingHammer :servesTo :roundTheSpine .     :roundTheSpine :takesPlaceIn :bindery .
:plough :servesTo :trimThePages .             :trimThePages :takesPlaceIn :bindery .
:paringKnife :servesTo :thinTheLeather .      :thinTheLeather :takesPlaceIn :bindery .
:goldLeafBrush :servesTo :gildTheTitle .      :gildTheTitle :takesPlaceIn :bindery .
:agate :servesTo :polishTheCover .            :polishTheCover :takesPlaceIn :bindery .
:wheel :servesTo :throwABowl .                :throwABowl :takesPlaceIn :pottery .
:loopTool :servesTo :carveTheFoot .           :carveTheFoot :takesPlaceIn :pottery .
:wire :servesTo :cutTheClay .                 :cutTheClay :takesPlaceIn :pottery .
:needle :servesTo :scratchTheHandle .         :scratchTheHandle :takesPlaceIn :pottery .
:chamois :servesTo :smoothTheRim .            :smoothTheRim :takesPlaceIn :pottery .
:kiln :servesTo :fireThePots .                :fireThePots :takesPlaceIn :pottery .
:tongs :servesTo :dipTheGlaze .               :dipTheGlaze :takesPlaceIn :pottery .
:sieve :servesTo :cleanTheSlip .              :cleanTheSlip :takesPlaceIn :pottery .
:bendingIron :servesTo :bendTheRibs .         :bendTheRibs :takesPlaceIn :violinShop .
:gouge :servesTo :carveTheScroll .            :carveTheScroll :takesPlaceIn :violinShop .
:fingerPlane :servesTo :thinTheTop .          :thinTheTop :takesPlaceIn :violinShop .
:clamp :servesTo :glueTheJoint .              :glueTheJoint :takesPlaceIn :violinShop .
:fretSaw :servesTo :cutTheSoundHole .         :cutTheSoundHole :takesPlaceIn :violinShop .
:knife :servesTo :shapeTheBridge .            :shapeTheBridge :takesPlaceIn :violinShop .
:scraper :servesTo :cleanTheVarnish .         :cleanTheVarnish :takesPlaceIn :violinShop .
:reamer :servesTo :widenThePegHole .          :widenThePegHole :takesPlaceIn :violinShop .
"""

# 2. The questions. A passage is about a deed; the fact that answers stands in the graph alone.
PASSAGES = [
    "{who} wanted to {deed}.",
    "It was time to {deed}, so {who} began.",
    "{who} had to {deed} that morning.",
]
ASKED = {
    "servesTo": ["What did {who} use?", "What tool did {who} need?", "What did {who} do it with?"],
    "takesPlaceIn": ["Where was {who}?", "Where did {who} do it?", "Where did it happen?"],
}
PEOPLE = ["Mina", "Omar", "Julia", "Tom", "the old man", "my aunt"]
KEPT_BACK = 4
"""Of so many deeds, one is never trained on."""


def facts(graph: KnowledgeGraph) -> Iterator[tuple[str, str, str]]:
    """Every fact as (deed, local name of its relation, answer), in labels."""
    edges = graph.neighbours(np.arange(graph.entity_count or 0, dtype=np.int32))
    names = [relation.name.rpartition("#")[2] for relation in graph.relations]
    rows = zip(graph.labels(edges.head), edges.relation.tolist(), graph.labels(edges.tail), strict=True)
    for head, relation, tail in rows:
        deed, answer = (tail, head) if names[relation] == "servesTo" else (head, tail)
        yield deed, names[relation], answer


def questions(info: Sequence[tuple[str, str, str]], copies: int, seed: int) -> Iterator[dict[str, Any]]:
    """Rows of JSON lines as `kgqa train`, `kgqa predict` and `kgqa evaluate own` read them, `copies` for each fact."""
    draw = random.Random(seed)
    for number in range(copies):
        for deed, relation, answer in info:
            who = draw.choice(PEOPLE)
            passage = draw.choice(PASSAGES).format(who=who, deed=deed)
            yield {
                "id": f"{number}-{relation}-{deed}",
                "passage": passage[0].upper() + passage[1:],
                "question": draw.choice(ASKED[relation]).format(who=who),
                "answers": [answer],
                "source": "knowledge",
            }


# 3. The recipe: the same keys as in a TOML file under training/recipes/answer.
def recipe_over(graph: Path, data: Path, max_steps: int) -> ReaderRecipe:
    """A small reader over the shipped encoder."""
    return ReaderRecipe.model_validate(
        {
            "name": "workshop",
            "encoder": {"folder": "kgqa-mini"},
            "reasoner": {"name": "fused", "graph_size": 64, "num_layers": 2, "dropout": 0.0},
            "input": {"max_nodes": 40, "max_tokens": 64},
            "paraphrase": 0.0,
            "data": [{"name": str(data), "graph": str(graph), "batch_questions": 12}],
            "trainer": {
                "max_steps": max_steps,
                "learning_rate": 2e-3,
                "encoder_learning_rate": 2e-4,
                "warmup": 0.1,
                "precision": "fp32",
                "log_every_steps": 20,
            },
        }
    )


# 4. Asking, with the path of facts that the answer rests on.
def shown(answer: Answer) -> str:
    """An answer in a line: text, confidence, and its best path."""
    path = answer.evidence.paths[0] if answer.evidence.paths else None
    steps = answer.evidence.triples(path) if path else ()
    way = "; ".join(" ".join(part.rpartition("#")[2] for part in (t.head, t.relation, t.tail)) for t in steps)
    return f"{answer.text} ({answer.source}, {answer.confidence:.2f}) because {way or 'nothing'}"


def main(folder: Path, max_steps: int = 80) -> tuple[int, int]:
    """Run the tutorial in a folder; of the questions about facts kept back, the number answered rightly, and of all."""
    graph_file = folder / "workshop.ttl"
    graph_file.write_text(GRAPH, encoding="utf-8")
    graph = open_graph(graph_file)
    every = sorted(facts(graph))
    deeds = sorted({deed for deed, _, _ in every})
    held = set(deeds[::KEPT_BACK])
    data = folder / "train.jsonl"
    rows = list(questions([fact for fact in every if fact[0] not in held], copies=12, seed=0))
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    print(f"{len(every)} facts; {len(rows)} questions about {len(deeds) - len(held)} of {len(deeds)} deeds")

    result = train_reader(recipe_over(graph_file, data, max_steps), folder / "run")
    print(f"{result.steps} steps in {result.minutes:.1f} minutes, loss {result.loss:.2f}")

    answerer = Answerer.load(str(folder / "run" / "export"), str(graph_file))
    right, asked = 0, list(questions([fact for fact in every if fact[0] in held], copies=1, seed=1))
    for row in asked:
        answer = answerer.answer(Question(row["question"], passage=Passage(row["passage"])))
        right += answer.text in row["answers"]
        print(f"{row['passage']} {row['question']}\n  {shown(answer)}")
    print(f"{right} of {len(asked)} right, about deeds of no training question")
    return right, len(asked)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))
