"""Hashes beside each data card, and the table of all parts in training/DATA.md: `python training/data_cards.py`.

Run it after a file of `training/data` or `tests/graphs` has changed, or a card.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from kgqa.data.datasets.cards import (
    HASHES,
    DataCard,
    DataUse,
    KnownHashes,
    file_hash,
    shipped_cards,
    text_hash,
)
from kgqa.data.datasets.json_lines import question_of
from kgqa.data.files import read_json_lines

PAGE = Path(__file__).parent / "DATA.md"
PLACE = re.compile(r"(<!-- cards -->\n).*?(<!-- end -->)", re.DOTALL)


def table(cards: list[DataCard]) -> str:
    """All parts of the project's own sets, a line each."""
    lines = ["| set | part | questions | for | what is asked | by |", "|---|---|---|---|---|---|"]
    for card in cards:
        files = card.files()
        for part in card.parts:
            own = [path for path in files if files[path] == part]
            if own:
                rows = sum(1 for path in own if path.suffix == ".jsonl" for _ in read_json_lines(path))
                info = (card.name, f"`{part.files}`", f"{rows:,}", part.role, part.asks, part.author)
                lines.append(f"| {' | '.join(info)} |")
    return "\n".join(lines) + "\n"


def hashes_of(card: DataCard) -> dict[str, KnownHashes]:
    """The expected content of `hashes.json`: the files that may not be trained on, by path within the set."""
    found: dict[str, KnownHashes] = {}
    for path, part in card.files().items():
        if part.role == DataUse.TRAIN:
            continue
        stored: KnownHashes = {"sha256": file_hash(path)}
        if path.suffix == ".jsonl":
            questions = (question_of(row, f"{path}:{number}", "") for number, row in read_json_lines(path))
            stored["texts"] = sorted(set(map(text_hash, questions)))
        found[path.relative_to(card.path.parent).as_posix()] = stored
    return found


def pages() -> dict[Path, str]:
    """What every file that is made of the cards should hold."""
    cards = shipped_cards()
    found = {
        card.path.with_name(HASHES): json.dumps(known, indent=0) + "\n"
        for card in cards
        if (known := hashes_of(card))
    }
    text = PAGE.read_text(encoding="utf-8")
    return {**found, PAGE: PLACE.sub(lambda place: f"{place[1]}{table(cards)}{place[2]}", text)}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
