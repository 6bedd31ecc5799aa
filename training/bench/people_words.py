"""Does an answer change when only the person changes? `python training/bench/people_words.py [--model FOLDER]`.

Every development question whose text names a person by a gendered word is asked again with the other gender, and
with the subject replaced by names of four origins and one that nobody has. Printed: the share of answers that stay
the same, and the exact match of each wording. A reader that looks at the situation alone scores 100 %.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path

from kgqa.data.datasets.load import load_dataset
from kgqa.evaluation import answer_all
from kgqa.graph.linking.normalize import normalise
from kgqa.metrics import exact_match
from kgqa.qa.answerer import Answerer
from kgqa.settings import DEFAULT_READER
from kgqa.types import Example, Passage, Question

SWAPS = [
    ("he", "she"),
    ("him", "her"),
    ("himself", "herself"),
    ("man", "woman"),
    ("boy", "girl"),
    ("father", "mother"),
    ("dad", "mum"),
    ("brother", "sister"),
    ("grandfather", "grandmother"),
    ("uncle", "aunt"),
    ("son", "daughter"),
    ("husband", "wife"),
    ("men", "women"),
    ("boys", "girls"),
    ("grandpa", "grandma"),
    ("nephew", "niece"),
]
OTHER = {a: b for pair in SWAPS for a, b in (pair, pair[::-1])} | {"his": "her"}
NAMES = {
    "English": ("Emily", "Jack"),
    "Korean": ("Ji-woo", "Min-jun"),
    "Arabic": ("Fatima", "Omar"),
    "Igbo": ("Ngozi", "Chidi"),
    "made-up": ("Belura", "Tovrik"),  # in no list of names
}
PRONOUN = re.compile(r"\b(he|she)\b", re.IGNORECASE)


def swapped(text: str) -> str:
    """Each gendered word replaced by its counterpart, case kept."""

    def other(match: re.Match[str]) -> str:
        word = match.group()
        found = OTHER.get(word.lower(), word)
        return found.capitalize() if word[0].isupper() else found

    return re.sub(r"[A-Za-z]+", other, text)


def named(text: str, names: tuple[str, str]) -> str:
    """The first pronoun replaced by a name."""
    return PRONOUN.sub(lambda m: names[m.group().lower() == "he"], text, count=1)


def reworded(examples: list[Example], change: object) -> list[Question]:
    """The questions with `change` applied to passage and question."""
    return [
        replace(e.question, passage=Passage(change(e.question.passage_text)), text=change(e.question.text))  # type: ignore[operator]
        for e in examples
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=DEFAULT_READER)
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).parents[1] / "data" / "everyday" / "development" / "everyday_dev.jsonl",
    )
    arguments = parser.parse_args()
    examples = [e for e in load_dataset(str(arguments.data)) if e.source == "knowledge"]
    gendered = [e for e in examples if swapped(e.question.passage_text) != e.question.passage_text]
    pronoun = [e for e in examples if PRONOUN.search(e.question.passage_text)]
    answerer = Answerer.load(arguments.model)

    def texts(group: list[Example], questions: list[Question]) -> list[str]:
        asked = [replace(e, question=q) for e, q in zip(group, questions, strict=True)]
        return [answer.text or "" for answer in answer_all(answerer.answer_many, asked)]

    def line(name: str, group: list[Example], change: object) -> None:
        before, after = texts(group, [e.question for e in group]), texts(group, reworded(group, change))
        same = sum(normalise(a) == normalise(b) for a, b in zip(before, after, strict=True)) / len(group)
        right = [
            sum(exact_match(t, e.golds, normalise) for t, e in zip(part, group, strict=True))
            for part in (before, after)
        ]
        print(
            f"| {name} | {len(group)} | {same:.1%} | {right[0] / len(group):.1%} | {right[1] / len(group):.1%} |"
        )

    print("| change | questions | same answer | right before | right after |\n|---|---|---|---|---|")
    line("other gender", gendered, swapped)
    for origin, names in NAMES.items():
        line(f"{origin} name for the pronoun", pronoun, lambda text, n=names: named(text, n))


if __name__ == "__main__":
    main()
