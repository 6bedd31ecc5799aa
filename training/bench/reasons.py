"""How often the fact that matters most for an answer stands on the path that is shown with it.

    python training/bench/reasons.py [--limit 100] [--every 4] [--out FILE.jsonl]
    python training/bench/reasons.py --read 50 [--data FILE.jsonl] [--seed 31]

Knowledge questions of the development set, every fourth. Each fact on a shown path and each that touches the answer (16
at most) is removed from the graph by itself, and the question is asked anew: what matters most is the fact without
which the answer's probability falls most. Facts that have nothing to do with the answer tell how much of that is noise;
an answer none of whose facts matter more is counted apart: it was known from reading, and no fact decided it. `--out`
writes each answer with its first path, to be read. `--read` strikes nothing: it prints a table of so many right
answers, in an order drawn by the seed, each with the second candidate and the first reason, for somebody to judge.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kgqa.qa.answerer import Answerer
from kgqa.qa.evidence import answer_nodes
from kgqa.qa.explain import near_edges, probability
from kgqa.qa.render import edited_facts, is_decided_by_facts, path_sentences, remove, sentence
from kgqa.types import Answer, Passage, Question, Source

ELSEWHERE = 3
"""Facts removed for each answer that touch neither it nor a shown path."""
DATA = Path(__file__).parents[1] / "data" / "everyday" / "development" / "everyday_dev.jsonl"


def elsewhere(answerer: Answerer, answer: Answer, seed: int) -> list[float]:
    """How far the answer's probability moves without each of some facts that have nothing to do with it."""
    graph, nodes = answer.evidence.subgraph, list(answer_nodes(answer))
    shown = {edge for path in answer.evidence.paths for edge in path.steps}
    apart = ~(np.isin(graph.edges[:, 0], nodes) | np.isin(graph.edges[:, 2], nodes))
    free = [edge for edge in np.flatnonzero(apart).tolist() if edge not in shown]
    drawn = np.random.default_rng(seed).permutation(free)[:ELSEWHERE].tolist()
    return [abs(change) for change in changes(answerer, answer, drawn)]


def changes(answerer: Answerer, answer: Answer, edges: Sequence[int]) -> list[float]:
    """How far the answer's probability falls where each of some facts is removed and all is asked anew."""
    best, graph = answer.candidates[0], answer.evidence.subgraph
    removed = [answerer.with_edits(*edited_facts([remove(graph, edge)])) for edge in edges]
    again = [other.answer_many([answer.question])[0] for other in removed]
    return [best.score - probability(other.candidates, best) for other in again]


def knowledge_lines(data: Path) -> list[dict[str, Any]]:
    """Rows of a data set that its passages do not answer."""
    lines = [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line["source"] == "knowledge"]


def question_of(line: dict[str, Any]) -> Question:
    """The question of a row, with its passage."""
    return Question(line["question"], passage=Passage(line["passage"]) if line["passage"] else None)


def to_be_read(answerer: Answerer, lines: Sequence[dict[str, Any]], limit: int) -> None:
    """Print a table of right answers from knowledge, each with the second candidate and its first reason."""
    print("| question | answer | second | first reason | tells |\n|---|---|---|---|---|")
    for line in lines:
        answer = answerer.answer(question_of(line))
        if answer.source is not Source.KNOWLEDGE or answer.text not in line["answers"]:
            continue
        evidence = answer.evidence
        info = " ; ".join(path_sentences(evidence, evidence.paths[0])) if evidence.paths else "(none)"
        info += "" if is_decided_by_facts(answer) else " (known from reading)"
        second = answer.runners_up[0].text if answer.runners_up else ""
        asked = f"{answer.question.passage_text} {answer.question.text}".strip()
        print(f"| {asked} | {answer.text} | {second} | {info} | |", flush=True)
        limit -= 1
        if not limit:
            return


def measure(answerer: Answerer, limit: int, every: int) -> tuple[list[dict[str, Any]], list[float]]:
    """A row for each answer that shows a path, and how far answers moved without facts elsewhere."""
    rows: list[dict[str, Any]] = []
    noise: list[float] = []
    for line in knowledge_lines(DATA)[::every]:
        question = question_of(line)
        begin = time.process_time()
        answer = answerer.answer(question)
        spent = time.process_time() - begin
        paths = answer.evidence.paths
        if answer.source is not Source.KNOWLEDGE or not paths or answer.evidence.query:
            continue
        edges = near_edges(answer, 16)
        found = sorted(zip(changes(answerer, answer, edges), edges, strict=True), reverse=True)
        change, most = found[0]
        noise += elsewhere(answerer, answer, len(rows))
        rows.append(
            {
                "question": question.text,
                "passage": question.passage_text,
                "answer": answer.text,
                "right": answer.text in line["answers"],
                "path": path_sentences(answer.evidence, paths[0]),
                "decided": is_decided_by_facts(answer),
                "most": sentence(answer.evidence.subgraph, most),
                "change": change,
                "against": found[-1][0],
                "first": most in paths[0].steps,
                "shown": any(most in path.steps for path in paths),
                "seconds": spent,
                "attribute": answer.timing_ms["attribute"],
            }
        )
        if len(rows) == limit:
            break
    return rows, noise


def main() -> None:
    """Print how often, with and without the answers that no fact decided."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--every", type=int, default=4)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--read", type=int, default=0)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seed", type=int, default=31)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.read:
        lines = knowledge_lines(options.data)
        np.random.default_rng(options.seed).shuffle(lines)
        to_be_read(Answerer.load(), lines, options.read)
        return
    rows, noise = measure(Answerer.load(), options.limit, options.every)
    if options.out:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        options.out.write_text(text, encoding="utf-8")
    size = float(np.quantile(noise, 0.95))
    decided = [row for row in rows if row["change"] > size]
    for name, part in (("all", rows), ("decided by a fact", decided)):
        first, shown = (sum(row[key] for row in part) for key in ("first", "shown"))
        print(
            f"{name}: {len(part)}; what matters most on the first path {first}, on one that is shown {shown}"
        )
    first_path = sum(row["first"] for row in rows) / len(rows)
    print(json.dumps({"first_path": first_path, "answers": len(rows)}))
    print(f"noise: {size:.4f} (95 % of {len(noise)} facts elsewhere move the probability by less)")
    output = sum(not row["decided"] for row in rows)
    print(
        f"said to be known from reading: {output}; processor time {np.mean([row['seconds'] for row in rows]):.2f} s"
    )


if __name__ == "__main__":
    main()
