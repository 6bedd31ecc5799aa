"""Keep the curves of pretraining runs for the app: `python -m training.experiments.curves runs/NAME/log.jsonl ...`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from kgqa.settings import CURVES, write_whole

POINTS = 60
FIGURES = {"loss": "", "held_out_loss": ", held out"}


def points(log: Path) -> list[dict[str, Any]]:
    """At most `POINTS` rows (run, tokens in millions, loss) of a run's log for each of the two losses."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line.strip()]
    rows = []
    for figure, words in FIGURES.items():
        kept = [line for line in lines if figure in line]
        step = max(1, -(-len(kept) // POINTS))
        kept = kept[::step] + ([kept[-1]] if (len(kept) - 1) % step else [])
        rows += [
            {
                "run": log.parent.name + words,
                "tokens": round(line["tokens"] / 1e6, 3),
                "loss": round(line[figure], 3),
            }
            for line in kept
        ]
    return rows


def main(logs: list[str], target: Path = CURVES) -> None:
    """Write the curves of the given logs, replacing the file."""
    rows = [row for log in logs for row in points(Path(log))]
    write_whole(target, "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    print(f"{target}: {len(rows)} points")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
