"""Benchmarks run at their smallest sizes."""

import sys
from typing import Any

import pytest

from training.bench import metamorphic, serving


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
