"""How a reader does on the graphs beside this file: `python tests/graphs/forms_test/check.py --model kgqa-base`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from kgqa.evaluation.graph_suite import is_right

HERE = Path(__file__).parent
SURE = 0.9


def right(answer: dict[str, Any], accepted: list[Any]) -> bool:
    """Whether an answer is accepted: of several things all and no others; a number may have its unit."""
    said, items = answer["answer"], [item["text"] for item in answer["items"]]
    if accepted and isinstance(accepted[0], dict):
        wanted = accepted[0]["all"]
        return len(items) == len(wanted) and all(any(is_right(i, [w]) for i in items) for w in wanted)
    number = accepted and said and accepted[0].replace(".", "", 1).isdigit()
    return is_right(said, accepted) or bool(number and is_right(said.split()[0], accepted))


def ask(graph: Path, rows: list[dict[str, Any]], model: str, folder: Path) -> list[dict[str, Any]]:
    """The answers of `kgqa predict`, in the order of the questions."""
    questions, answers = folder / "questions.jsonl", folder / f"{graph.stem}.jsonl"
    lines = (json.dumps({"id": row["id"], "question": row["question"]}) for row in rows)
    questions.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "kgqa", "predict", str(questions), str(answers)]
    subprocess.run([*command, "--graph", str(graph), "--model", model, "--language", "en"], check=True)
    return [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="kgqa-base")
    model = parser.parse_args().model
    asked, correct, sure = Counter[str](), Counter[str](), Counter[bool]()
    for file in sorted(HERE.glob("*.jsonl")):
        graph = next(path for path in HERE.glob(f"{file.stem}.*") if path != file)
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        with tempfile.TemporaryDirectory() as folder:
            for row, answer in zip(rows, ask(graph, rows, model, Path(folder)), strict=True):
                good = right(answer, row["answers"])
                asked.update(keys := (row["kind"], file.stem, "all"))
                correct.update(keys if good else ())
                sure[good] += answer["confidence"] >= SURE
    print(*(f"{key:16}{correct[key]:4} of {asked[key]}" for key in asked), sep="\n")
    print(f"confidence >= {SURE}: {sure[False]} of {sure.total()} wrong")


if __name__ == "__main__":
    main()
