"""How far what follows facts depends on the graphs it was fitted to.

Run `python training/bench/following.py [FOLDER] [--model NAME] [--wrong]`: every question of `tests/graphs` that is no
exact operation is read twice, as its graph is and with the facts struck that lead to its answers, so that nothing in
the graph answers it any more. What `kgqa evaluate --calibrate` fits (`kgqa/evaluation/fitting.py`) is fitted with each
graph left out in turn, and reported on that. Reading takes ten minutes.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kgqa.answering.answerer import Answerer
from kgqa.answering.decision import Following
from kgqa.assets import GRAPH_SUITE
from kgqa.evaluation.fitting import SIGNS, WEIGHED, WayCase, fit_following, way_cases
from kgqa.evaluation.graph_suite import is_right, load_suite


def main() -> None:
    """Read, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=GRAPH_SUITE)
    parser.add_argument("--model", default="kgqa-base")
    parser.add_argument("--wrong", action="store_true")
    arguments = parser.parse_args()
    answerer = Answerer.load(arguments.model)
    cases = list(way_cases(answerer, load_suite(arguments.folder)))
    before = answerer.decision.following
    print("as in the card", table([(case, said(case, before)) for case in cases]))
    fitted = fit_following(cases, before)
    print("fitted on all", fitted.model_dump(), table([(case, said(case, fitted)) for case in cases]))
    left_out = []
    for graph in sorted({case.asked.graph for case in cases}):
        weights = fit_following([case for case in cases if case.asked.graph != graph], before)
        left_out += [(case, said(case, weights)) for case in cases if case.asked.graph == graph]
    print("each graph left out", table(left_out))
    for case, told in left_out if arguments.wrong else ():
        if not is_right(told, answers_of(case)):
            print(
                f"{kind_of(case)}: {case.asked.question.text} | {told} | {' / '.join(answers_of(case)[:2])}"
            )


def answers_of(case: WayCase) -> tuple[str, ...]:
    """What is accepted: nothing where the answer was struck."""
    return case.asked.answers if case.answerable else ()


def kind_of(case: WayCase) -> str:
    """The kind of question, or that its answer was struck."""
    return "struck" if case.asked.answers and not case.answerable else case.asked.kind


def said(case: WayCase, weights: Following) -> str | None:
    """The end of the likeliest way; None where none is likelier."""
    ways = np.array([getattr(weights, name) for name in WEIGHED])
    none = np.array([getattr(weights, name) for name in SIGNS])
    if not len(case.features) or case.signs(ways) @ none > 0:
        return None
    return case.labels[int((case.features @ ways).argmax())]


def table(told: Sequence[tuple[WayCase, str | None]]) -> str:
    """Share answered rightly of each kind of question."""
    count: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for case, text in told:
        whole = () if kind_of(case) == "struck" else ("all", "answerable" if case.answerable else "none")
        for key in (kind_of(case), *whole):
            count[key][0] += is_right(text, answers_of(case))
            count[key][1] += 1
    return ", ".join(f"{kind} {100 * a / b:.0f} ({b})" for kind, (a, b) in sorted(count.items()))


if __name__ == "__main__":
    main()
