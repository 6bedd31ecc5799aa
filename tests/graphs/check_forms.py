"""How a reader does on the graphs of a folder here: `python tests/graphs/check_forms.py forms_exam`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from kgqa.metrics import is_right

HERE = Path(__file__).parent
SURE = 0.9


def right(answer: dict[str, Any], accepted: list[Any], kind: str) -> bool:
    """Whether an answer is accepted: of several things all and no others; a number may have its unit."""
    output, items = answer["answer"], [item["text"] for item in answer["items"]]
    if accepted and (isinstance(accepted[0], dict) or kind == "list"):
        wanted = accepted[0]["all"] if isinstance(accepted[0], dict) else accepted
        return len(items) == len(wanted) and all(any(is_right(i, [w]) for i in items) for w in wanted)
    number = accepted and output and accepted[0].replace(".", "", 1).isdigit()
    return is_right(output, accepted) or bool(number and is_right(output.split()[0], accepted))


def ask(graph: Path, rows: list[dict[str, Any]], model: str, folder: Path) -> list[dict[str, Any]]:
    """The answers of `kgqa predict`, in the order of the questions."""
    questions, answers = folder / "questions.jsonl", folder / f"{graph.stem}.jsonl"
    lines = (json.dumps({"id": row["id"], "question": row["question"]}) for row in rows)
    questions.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "kgqa", "predict", str(questions), str(answers)]
    ending = graph.stem.rsplit("_", 1)[-1]
    language = ending if len(ending) == 2 else "en"
    subprocess.run([*command, "--graph", str(graph), "--model", model, "--language", language], check=True)
    return [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folder",
        choices=sorted(path.name for path in HERE.iterdir() if any(path.glob("*.jsonl"))),
    )
    parser.add_argument("--model", default="kgqa-base")
    parser.add_argument("--json", action="store_true", help="a line of figures for training/results.py")
    parser.add_argument(
        "--show", action="store_true", help="what was answered, and how surely, where it is wrong"
    )
    chosen = parser.parse_args()
    here, model = HERE / chosen.folder, chosen.model
    asked, correct, sure = Counter[str](), Counter[str](), Counter[bool]()
    for file in sorted(here.glob("*.jsonl")):
        graph = next(path for path in here.glob(f"{file.stem}.*") if path != file)
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        with tempfile.TemporaryDirectory() as folder:
            for row, answer in zip(rows, ask(graph, rows, model, Path(folder)), strict=True):
                good = right(answer, row["answers"], row["kind"])
                asked.update(keys := (row["kind"], file.stem, "all"))
                correct.update(keys if good else ())
                sure[good] += answer["confidence"] >= SURE
                if chosen.show and not good:
                    reading = (answer["evidence"].get("reading") or {}).get("phrase", "")
                    print(
                        f"{row['id']} {row['question']} | {answer['answer']} {answer['confidence']:.2f} | {reading}"
                    )
    if chosen.json:
        kinds = {"all", *asked} - {file.stem for file in here.glob("*.jsonl")}
        shares = {key: round(correct[key] / asked[key], 4) for key in asked if key in kinds}
        figures = {
            "questions": asked["all"],
            "right": shares.pop("all"),
            "sure": sure.total(),
            "sure_and_wrong": sure[False],
        }
        print(json.dumps({**figures, **shares}))
        return
    print(*(f"{key:16}{correct[key]:4} of {asked[key]}" for key in asked), sep="\n")
    print(f"confidence >= {SURE}: {sure[False]} of {sure.total()} wrong")


if __name__ == "__main__":
    main()
