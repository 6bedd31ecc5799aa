"""How much of what is asked the everyday graph knows.

Run `python training/bench/coverage.py` (CommonsenseQA is added where KGQA_DATA is set). For each file of questions:
the share of the knowledge questions with an accepted answer that is a concept of the graph, that is within two
facts of a concept linked in question or passage, and that is among the 100, 120 and 200 concepts retrieved. `--missing`
prints what is missed, to be written into the sources: use it on training questions only.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from conceptnet import concepts_named, data_folder, questions, table

from kgqa.data.datasets.load import find_data_file, load_dataset
from kgqa.data.files import read_json_lines
from kgqa.graph.linking.linker import Linker
from kgqa.graph.load import open_graph
from kgqa.graph.retrieval.subgraph import retrieve_subgraphs
from kgqa.types import Example, KnowledgeGraph

DEV = Path(__file__).parents[1] / "data" / "everyday" / "development" / "everyday_dev.jsonl"
STEPS = ("a concept", "within two facts", "among 100", "among 120", "among 200")


def reached(example: Example, graph: KnowledgeGraph, linker: Linker) -> Iterator[bool]:
    """For each of `STEPS`, whether an accepted answer got that far."""
    accepted = {e for answer in example.concepts for e in concepts_named(graph, answer)}
    yield bool(accepted)
    texts = [example.question.text, example.question.passage_text]
    near = {e for mentions in linker.link_many(texts) for m in mentions for e in m.entities}
    for _ in range(2):
        edges = graph.neighbours(np.array(sorted(near), dtype=np.int32))
        near |= {*edges.head.tolist(), *edges.tail.tolist()}
    yield not near.isdisjoint(accepted)
    names = set(graph.names(np.array(sorted(accepted), dtype=np.int32)))
    for count in (100, 120, 200):
        yield not names.isdisjoint(
            retrieve_subgraphs(example.question, graph, linker, max_nodes=count)[0].nodes
        )


def words_found(graph: KnowledgeGraph, linker: Linker, texts: list[str]) -> list[str]:
    """Share of texts that are a concept, and share in which the linker finds one."""
    exact = sum(bool(concepts_named(graph, text)) for text in texts)
    linked = sum(bool(linker.link(text)) for text in texts)
    return [str(len(texts)), f"{exact / len(texts):.1%}", f"{linked / len(texts):.1%}"]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", default=[str(DEV)], help="Questions.")
    parser.add_argument("--graph", default="everyday", help="Graph: a shipped name, folder or file.")
    parser.add_argument("--missing", action="store_true", help="Print each question whose answer is missed.")
    asked = parser.parse_args()
    graph = open_graph(asked.graph)
    linker = Linker(graph)
    rows = []
    for file in asked.files:
        examples = [example for example in load_dataset(file) if example.concepts]
        steps = np.array([list(reached(example, graph, linker)) for example in examples])
        shares = steps.mean(axis=0)
        rows.append([Path(file).name, str(len(examples)), *(f"{share:.1%}" for share in shares)])
        figures = zip(("concept", "two", "among100", "among120", "among200"), shares.tolist(), strict=True)
        print(json.dumps({"of": f"coverage of {Path(file).stem}", "by": "everyday graph", **dict(figures)}))
        for example, got in zip(examples, steps, strict=True) if asked.missing else ():
            if not got.all():
                print(f"{STEPS[int(got.argmin())]}: {'; '.join(example.concepts)} | {example.question}")
    table("Answers of the everyday questions", ["file", "questions", *STEPS], rows)
    if os.environ.get("KGQA_DATA"):
        found = questions()
        lines = read_json_lines(find_data_file(data_folder(), "csqa/dev.jsonl"))
        asked_about = [row["question"]["question_concept"] for _, row in lines]
        answers = [example.question.choices[example.choice or 0] for example in found]
        choices = [choice for example in found for choice in example.question.choices]
        table(
            "Words of the CommonsenseQA development questions",
            ["words", "count", "a concept", "linked"],
            [
                ["question concepts", *words_found(graph, linker, asked_about)],
                ["answers", *words_found(graph, linker, answers)],
                ["all choices", *words_found(graph, linker, choices)],
            ],
        )


if __name__ == "__main__":
    main()
