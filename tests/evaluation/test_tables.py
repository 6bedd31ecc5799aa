from kgqa.evaluation.comparison import Outcome
from kgqa.evaluation.tables import BASELINE, collapsed, figures, table


def outcome(row: str, seed: int, right: list[float], chance: float = 0.2, faithful=()) -> Outcome:
    return Outcome(row, seed, "csqa", {"accuracy": right}, chance, 7_000_000, 2.0, 12.0, list(faithful))


def test_the_table_has_mean_spread_gain_and_collapsed_seeds() -> None:
    base = [1.0] * 30 + [0.0] * 70
    good = [1.0] * 60 + [0.0] * 40
    rows = [outcome(BASELINE, 0, base), outcome(BASELINE, 1, base)]
    rows += [outcome("fused", 0, good, faithful=[1.0, 0.0]), outcome("fused", 1, [0.0] * 100)]
    rows += [outcome("gsc", 0, good), outcome("kagnet", 1, [0.0] * 100)]
    lines = table(rows).splitlines()
    assert "30.0 ± 0.0 |" in lines[2] and lines[2].endswith("| 7.0M | 2.0 | 12 | 2 | 0 |")
    assert "30.0 ± 42.4 (+0.0)" in lines[3] and lines[3].endswith("| 50 % of 2 | 7.0M | 2.0 | 12 | 2 | 1 |")
    assert "60.0 (+30.0*)" in lines[4] and "0.0 (-30.0†)" in lines[5]


def test_a_row_as_data_has_mean_and_spread() -> None:
    rows = [outcome("fused", seed, [1.0] * right, faithful=[1.0, 0.0]) for seed, right in ((0, 10), (1, 10))]
    rows[1].values["accuracy"][:] = [0.0] * 10
    (told,) = figures(rows)
    assert told["by"] == "fused" and told["seeds"] == 2 and told["deletion"] == 0.5
    assert told["csqa: accuracy"] == [0.5, 0.5**0.5]


def test_a_reader_collapsed_where_it_is_no_better_than_guessing() -> None:
    assert collapsed([outcome("a", 0, [1.0] * 25 + [0.0] * 75)])
    assert not collapsed([outcome("a", 0, [1.0] * 25 + [0.0] * 75), outcome("a", 0, [1.0] * 100)])
    assert collapsed([outcome("a", 0, [0.0] * 9, chance=0.0)])
    assert not collapsed([outcome("a", 0, [0.0] * 9 + [1.0], chance=0.0)])
