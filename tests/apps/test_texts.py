import ast
import string
import tomllib
from pathlib import Path

import pytest

import apps
from apps.texts import LANGUAGES, TEXTS, WORDINGS, text

FOLDER = Path(apps.__file__).parent


def test_all_languages_say_the_same_fields() -> None:
    for key, output in TEXTS["en"].items():
        for language in LANGUAGES:
            other = TEXTS[language][key]
            assert other and fields(other) == fields(output), f"{language}: {key}"


def fields(output: str) -> set[str]:
    return {field for _, field, _, _ in string.Formatter().parse(output) if field}


def test_pages_and_their_keys_are_the_same_in_all_languages() -> None:
    pages = {
        language: tomllib.loads((WORDINGS / f"{language}.toml").read_text(encoding="utf-8"))
        for language in LANGUAGES
    }
    keys = {
        language: [(page, list(output)) for page, output in found.items()]
        for language, found in pages.items()
    }
    assert all(found == keys["en"] for found in keys.values())
    assert sum(len(output) for _, output in keys["en"]) == len(TEXTS["en"]), "a key stands on two pages"


def test_every_text_that_is_asked_for_is_there() -> None:
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say":
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    assert first.value in TEXTS["en"], f"{path.name}: {first.value}"


def test_an_unknown_language_is_english() -> None:
    assert text("ask", "xx") == "Ask" and text("ask", "ko") == "묻기"


@pytest.mark.parametrize(
    ("answer", "output"), [("삽 (평삽)", "“삽 (평삽)”이 없다면?"), ("굴착기", "“굴착기”가 없다면?")]
)
def test_particles_follow_the_word(answer: str, output: str) -> None:
    assert text("without", "ko", answer=answer) == output
    assert text("without", "en", answer=answer) == f"What if there were no “{answer}”?"
