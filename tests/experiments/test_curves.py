import json
from pathlib import Path

from apps.views.learn import read_figures
from kgqa.settings import CURVES
from training.experiments.curves import POINTS, main


def test_long_logs_are_thinned_and_end_at_the_end(tmp_path: Path) -> None:
    log = tmp_path / "kgqa-x" / "log.jsonl"
    log.parent.mkdir()
    lines = [{"step": n, "tokens": n * 1_000_000, "loss": 8 - n / 100} for n in range(200)]
    log.write_text("\n".join(map(json.dumps, [*lines, {"tokens": 199_000_000, "held_out_loss": 6.5}])))
    main([str(log)], tmp_path / "curves.json")
    rows = read_figures(tmp_path / "curves.json")
    trained = [row for row in rows if row["run"] == "kgqa-x"]
    assert len(trained) <= POINTS + 1 and trained[-1] == {"run": "kgqa-x", "tokens": 199.0, "loss": 6.01}
    assert rows[-1] == {"run": "kgqa-x, held out", "tokens": 199.0, "loss": 6.5}


def test_what_is_kept_can_be_drawn(tmp_path: Path) -> None:
    assert not read_figures(tmp_path / "missing.json")
    assert all(set(row) == {"run", "tokens", "loss"} for row in read_figures(CURVES))
