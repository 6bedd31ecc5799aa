"""What the documents name is there: files, folders, and the names of code."""

from __future__ import annotations

import re
import runpy
from functools import cache, partial
from pathlib import Path

import pytest

from kgqa.data.datasets.load import DATASETS

ROOT = Path(__file__).parent.parent
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))
DOCUMENTS = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", *PAGES]
PLACE = re.compile(r"(?:kgqa|apps|tests|training|graph_data)/[\w./-]*")
PATTERN = re.compile(r"NAME|\*")
"""Stands for a name of the reader's own."""


@pytest.mark.parametrize("name", DOCUMENTS)
def test_files_and_folders_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for quoted in re.findall(r"`([^`\n]+)`", text):
        for place in PLACE.findall(quoted):
            assert PATTERN.search(quoted) or (ROOT / place.rstrip(".")).exists(), f"{name}: {place}"
    for link in re.findall(r"\]\((?!api/)([^)#:]+)\)", text):  # those pages are made of docstrings
        assert ((ROOT / name).parent / link).exists(), f"{name}: {link}"


def test_every_promise_of_security_names_its_test() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    promises = [row for row in text.splitlines() if row.startswith("| ") and "**" not in row][1:]
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    assert len(promises) > 40 and all("::" in row for row in promises) and len(named) >= len(promises)
    for file, name in named:
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file}::{name}"


def test_every_file_that_a_recipe_reads_is_named_with_where_it_is_to_be_had() -> None:
    script = runpy.run_path(str(ROOT / "training" / "data_files.py"))
    wanted = script["wanted"]()
    reported = (ROOT / "training" / "DATA.md").read_text(encoding="utf-8")
    assert len(wanted) > 40
    assert "retriever/facts" in wanted["qa/protoqa/train.jsonl"][1] & wanted["qa/csqa/train.jsonl"][1]
    assert wanted["data/all-MiniLM-L6-v2"][1] == {"retriever/facts"} and "data/all-mpnet-base-v2" in wanted
    for file in wanted:
        folder, _, name = file.rpartition("/")
        assert re.search(rf"\b{re.escape(name)}\b", reported) and (
            folder == "text" or f"{folder}/" in reported
        ), file
    for read in DATASETS.values():
        file = script["_asked_for"](partial(script["_first"], read))
        assert Path(file).name in reported, file


@cache
def words_of_code() -> frozenset[str]:
    modules = [
        *(ROOT / "kgqa").rglob("*.py"),
        *(ROOT / "apps").rglob("*.py"),
        *(ROOT / "tests").glob("test_*.py"),
    ]
    return frozenset(
        word for path in modules for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_names_of_code_exist(name: str) -> None:
    """Quoted names such as `InputConfig` or `read_source` stand somewhere in the code."""
    questions = {path.stem for path in (ROOT / "training" / "data").rglob("*.jsonl")}
    text = re.sub(r"```.*?```", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    for quoted in re.findall(r"`([A-Za-z]+_?[A-Za-z_]*)(?:\([^`]*\)(?: -> \w+)?)?`", text):
        is_code = ("_" in quoted and not quoted.startswith("my_")) or re.search(
            r"[a-z][A-Z]|^[A-Z][A-Za-z]+$", quoted
        )
        if is_code and "." not in quoted and quoted not in questions:
            assert quoted in words_of_code(), f"{name}: {quoted}"
