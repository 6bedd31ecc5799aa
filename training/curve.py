"""Draw the curves of runs: `python training/curve.py runs/kgqa-mini/log.jsonl [MORE ...] out.png`.

A run that went on from another's weights is drawn from where it began: `runs/b/log.jsonl@5.1` begins at 5.1
million tokens.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def points(path: Path, key: str) -> tuple[list[float], list[float]]:
    """Tokens (millions) and a figure, for the lines of a log that have it."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    kept = [line for line in lines if key in line]
    return [line["tokens"] / 1e6 for line in kept], [line[key] for line in kept]


def main(paths: list[str]) -> None:
    """Training loss (thin) and held-out loss (dots) against tokens; one colour a run."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    *logs, out = paths
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for number, text in enumerate(logs):
        path, _, begin = text.partition("@")
        log, color = Path(path), f"C{number}"
        for key, style in (
            ("loss", {"linewidth": 0.8, "alpha": 0.7}),
            ("held_out_loss", {"marker": "o", "label": f"{log.parent.name}, held out"}),
        ):
            tokens, values = points(log, key)
            axes.plot([place + float(begin or 0) for place in tokens], values, color=color, **style)
    axes.set_xlabel("tokens, millions")
    axes.set_ylabel("loss, nats")
    axes.legend()
    figure.tight_layout()
    figure.savefig(out, dpi=120)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1:])
