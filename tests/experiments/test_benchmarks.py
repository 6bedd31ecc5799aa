"""Benchmarks run at their smallest sizes."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from training.bench import metamorphic, serving

TRAINING = Path(__file__).parents[2] / "training"
BESIDE_THE_PACKAGE = re.compile(r"^from (?:apps|graph_data|training)\b", re.MULTILINE)


def test_scripts_find_what_is_beside_the_package() -> None:
    """Run as `python training/NAME.py`, a script has its own folder on the path and not the repository's."""
    scripts = [path for path in TRAINING.rglob("*.py") if "__main__" in path.read_text(encoding="utf-8")]
    assert len(scripts) > 20
    for script in scripts:
        text = script.read_text(encoding="utf-8")
        if found := BESIDE_THE_PACKAGE.search(text):
            assert "\nsys.path.insert(0, " in text[: found.start()], script


@pytest.mark.parametrize(
    ("options", "counts"), [(["--pause", "0", "--callers", "1"], [1, 1, 1]), (["--memory", "1"], [1] * 6)]
)
def test_each_load_of_the_service_asks_something(
    options: list[str], counts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    class Service:
        def __init__(self, *settings: object) -> None: ...

        def close(self) -> None: ...

    def load(service: Service, path: str, callers: int, questions: list[Any], pause_s: float = 0) -> Any:
        asked.append(len(questions))
        return {"mb": 0}

    monkeypatch.setattr(serving, "Service", Service)
    monkeypatch.setattr(serving, "load", load)
    monkeypatch.setattr(serving, "plain_reader", lambda folder, questions: {})
    monkeypatch.setattr(sys, "argv", ["serving.py", "--questions", "1", *options])
    serving.main()
    assert asked == counts


def test_an_unknown_graph_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["metamorphic.py", "--only", "baker"])
    with pytest.raises(SystemExit):
        metamorphic.main()
    assert "invalid choice: 'baker'" in capsys.readouterr().err
