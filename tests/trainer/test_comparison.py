from dataclasses import replace

from kgqa.models.reasoners import REASONERS
from kgqa.trainer.comparison import BASELINE, ROWS, Outcome, table


def outcome(row: str, seed: int, right: list[float]) -> Outcome:
    figures = {"hits@1": sum(right) / len(right)}
    return Outcome(row, seed, "own", figures, right, 7_000_000, 2.0, 12.0)


def test_the_table_has_mean_spread_gain_and_collapsed_seeds() -> None:
    base = [1.0] * 30 + [0.0] * 70
    good = [1.0] * 60 + [0.0] * 40
    rows = [outcome(BASELINE, 0, base), outcome(BASELINE, 1, base), outcome("fused", 0, good)]
    rows.append(replace(outcome("fused", 1, [0.0] * 100)))
    text = table(rows, {"own": ("hits@1",)})
    lines = text.splitlines()
    assert "30.0 ± 0.0" in lines[2] and "| 0 |" in lines[2]
    assert "30.0 ± 42.4" in lines[3] and lines[3].endswith("| 2 | 1 |")


def test_every_reasoner_and_every_ablation_has_its_row() -> None:
    assert {row["reasoner"] for row in ROWS.values()} == set(REASONERS)
    assert {row.get("ablation") for row in ROWS.values()} >= {"shuffled", "no-direct-edges", "no-facts"}
