"""Why answers are wrong: `python training/bench/failures.py [--model FOLDER] [--show N]`.

Every wrong answer to the everyday development questions is put under its first cause: nothing linked, accepted concept
not in the graph, not retrieved, wrong source chosen (the answer-type classifier), misranked among the retrieved
concepts, or misread in the passage. `--show` prints so many of them, evenly spread, to be read one by one.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from kgqa.data.datasets.load import load_dataset
from kgqa.evaluation import answer_all
from kgqa.graph.linking.normalize import normalise
from kgqa.metrics import exact_match
from kgqa.qa.answerer import Answerer
from kgqa.settings import DEFAULT_READER
from kgqa.types import Answer, Example


def cause(answerer: Answerer, example: Example, answer: Answer) -> str:
    """The first thing on the way to the answer that went wrong."""
    right_source = answer.source is example.source
    if example.source == "knowledge":
        golds = {normalise(gold) for gold in example.golds}
        graph = answer.evidence.subgraph
        if not any(len(found) for found in answerer.graph.find(sorted(golds))):
            return "not in the graph"
        if not graph.links:
            return "nothing linked"
        if golds.isdisjoint(normalise(label) for label in graph.labels):
            return "not retrieved"
    if not right_source:
        return f"gate: {example.source.value} taken for {answer.source.value}"
    return "misranked" if example.source == "knowledge" else "misread"


def main() -> None:
    """Count and show."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=DEFAULT_READER)
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).parents[1] / "data" / "everyday" / "development" / "everyday_dev.jsonl",
    )
    parser.add_argument("--show", type=int, default=0)
    arguments = parser.parse_args()
    examples = list(load_dataset(str(arguments.data)))
    answerer = Answerer.load(arguments.model)
    wrong: dict[str, list[tuple[Example, Answer]]] = defaultdict(list)
    for example, answer in zip(examples, answer_all(answerer.answer_many, examples), strict=True):
        golds = example.golds
        if exact_match(answer.text or "", golds, normalise) if golds else answer.text is None:
            continue
        wrong[cause(answerer, example, answer)].append((example, answer))
    count = sum(map(len, wrong.values()))
    print(f"{count} of {len(examples)} wrong\n\n| cause | questions | share |\n|---|---|---|")
    for name, group in sorted(wrong.items(), key=lambda item: -len(item[1])):
        print(f"| {name} | {len(group)} | {len(group) / count:.0%} |")
    listed = [(name, *pair) for name, group in sorted(wrong.items()) for pair in group]
    for name, example, answer in listed[:: max(1, len(listed) // arguments.show)] if arguments.show else ():
        output = f"{answer.text!r} ({answer.source.value}, {answer.confidence:.0%})"
        print(
            f"- {name}: {example.question.passage_text} {example.question.text} -> {output}, not {example.golds[:3]}"
        )


if __name__ == "__main__":
    main()
