"""Hashes beside each data card, and the section of each set in training/DATA.md: `python training/data_cards.py`.

Run it after a file of `training/data` or `tests/graphs` has changed, or a card.
"""

from __future__ import annotations

import json
import re
from collections import Counter
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
from kgqa.settings import ROOT

PAGE = Path(__file__).parent / "DATA.md"
PLACE = re.compile(r"(<!-- cards -->\n).*?(<!-- end -->)", re.DOTALL)


def section(card: DataCard) -> str:
    """A set of the project: what it is, its licence, a line for each part, and what may not be trained on; "" for the
    published sets, which have no files here."""
    files, lines, counts = card.files(), [], Counter[DataUse]()
    for part in card.parts:
        own = [path for path in files if files[path] == part]
        if own:
            rows = sum(1 for path in own if path.suffix == ".jsonl" for _ in read_json_lines(path))
            counts[part.role] += rows
            lines.append(
                f"| {' | '.join((f'`{part.files}`', f'{rows:,}', part.role, part.asks, part.author))} |"
            )
    if not lines:
        return ""
    kept = ", ".join(
        f"{counts[role]:,} for {role}" for role in DataUse if counts[role] and role != DataUse.TRAIN
    )
    trained = (
        f"{counts[DataUse.TRAIN]:,} questions to train on" if counts[DataUse.TRAIN] else "Nothing to train on"
    )
    folder = card.path.parent.relative_to(ROOT).as_posix()
    return "\n".join(
        [
            f"### {card.name}\n",
            f"{card.about} {card.licence}; `{folder}/`.\n",
            f"{trained}{f'; not to be trained on: {kept}' if kept else ''}.\n",
            "| part | questions | for | what is asked | by |",
            "|---|---|---|---|---|",
            *lines,
            "\n",
        ]
    )


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
    return {
        **found,
        PAGE: PLACE.sub(lambda place: f"{place[1]}{''.join(map(section, cards))}{place[2]}", text),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
