"""Where the time of an answer goes: milliseconds a question by stage, one by one and by sixteen.

    python training/bench/pipeline_profile.py [--questions 48] [--together 1 16] [--explained] [--model kgqa-base]

Everyday development questions, one thread, each as if it were new. For a flame graph of the same:
`py-spy record -o flame.svg -- python training/bench/pipeline_profile.py`.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import Counter
from pathlib import Path

from kgqa.data.datasets.json_lines import read_examples
from kgqa.models.devices import use_one_thread
from kgqa.qa import retrieve
from kgqa.qa.answerer import Answerer

DEV = Path(__file__).parents[1] / "data" / "everyday" / "development" / "everyday_dev.jsonl"


def main() -> None:
    """Print the table, and the middle and mean of all stages as JSON."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--questions", type=int, default=48)
    options.add_argument("--together", type=int, nargs="+", default=[1, 16])
    options.add_argument("--explained", action="store_true", help="with what orders the evidence")
    options.add_argument("--model", default="kgqa-base")
    chosen = options.parse_args()
    use_one_thread()
    asked = [example.question for example in read_examples(DEV)]
    asked = asked[:: max(1, len(asked) // chosen.questions)][: chosen.questions]
    answerer = Answerer.load(chosen.model, "everyday", device="cpu")
    answerer.answer_many(asked[:2])
    retrieve.LONGEST_KEPT = 0
    columns: list[dict[str, float]] = []
    info: dict[str, float] = {}
    for together in chosen.together:
        parts = [asked[at : at + together] for at in range(0, len(asked), together)]
        answers = [answer for part in parts for answer in answerer.answer_many(part)]
        if chosen.explained:
            answers = [answerer.explained(answer) for answer in answers]
        totals = [answer.timing_ms["total"] for answer in answers]
        spent: Counter[str] = Counter()
        for answer in answers:
            spent.update(answer.timing_ms)
        columns.append({step: ms / len(answers) for step, ms in spent.items()})
        info |= {
            f"together{together}": statistics.mean(totals),
            f"middle{together}": statistics.median(totals),
        }
    print("| ms a question |", " | ".join(f"{n} together" for n in chosen.together), "|")
    print("|---|" + "---|" * len(columns))
    for step in columns[0]:
        print(f"| {step} |", " | ".join(f"{column.get(step, 0.0):.1f}" for column in columns), "|")
    print(json.dumps({name: round(ms, 1) for name, ms in info.items()}))


if __name__ == "__main__":
    main()
