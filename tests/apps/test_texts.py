import ast
import string
from pathlib import Path

import pytest

import apps
from apps.texts import LANGUAGES, TEXTS, text

FOLDER = Path(apps.__file__).parent


def test_both_languages_say_the_same_fields() -> None:
    for key, said in TEXTS.items():
        assert len(said) == len(LANGUAGES) and all(said), key
        first, second = ({f for _, f, _, _ in string.Formatter().parse(s) if f} for s in said)
        assert first == second, key


def test_every_text_that_is_asked_for_is_there() -> None:
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say":
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    assert first.value in TEXTS, f"{path.name}: {first.value}"


def test_an_unknown_language_is_english() -> None:
    assert text("ask", "xx") == "Ask" and text("ask", "ko") == "묻기"


@pytest.mark.parametrize(
    ("answer", "said"), [("삽 (평삽)", "삽 (평삽)이 없다면?"), ("굴착기", "굴착기가 없다면?")]
)
def test_particles_follow_the_word(answer: str, said: str) -> None:
    assert text("without", "ko", answer=answer) == said
    assert text("without", "en", answer=answer) == f"What if there were no {answer}?"
