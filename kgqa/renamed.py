"""Names of earlier versions: recipes, model cards and options with old names still work."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from kgqa.types import InputError

KEYS = {
    "reading": "input",
    "reading.branches": "packed",
    "reading.context": "context_facts",
    "reading.meaning": "fact_encoder",
    "reading.verdicts": "yes_no",
    "reasoner.verdicts": "yes_no",
    "without_facts": "graph_dropout",
    "data.reread": "as_one_of",
    "columns.reread": "as_one_of",
    "development.reread": "as_one_of",
    "gate": "answer_type",
    "decision.none_above": "no_answer_threshold",
    "decision.without_facts": "graph_free_weight",
    "decision.calibration.verdict": "yes_no",
    "forms.unsaid": "no_form_bias",
}
"""Keys of recipes and `reader.json`: old dotted name (lists are skipped), and new name."""
_WORD_VECTORS = "readers no longer read word vectors; leave them out of the recipe, or take kgqa-small"
RETIRED = {"words": _WORD_VECTORS, "reasoner.word_size": _WORD_VECTORS, "reasoner.operations": ""}
"""Removed keys, each with the remedy if it is set; "" and keys that are off are ignored."""
VALUES = {
    ("data.name", "worlds"): "synthetic-graphs",
    ("development.name", "worlds"): "synthetic-graphs",
    ("trainer.best_metric", "accuracy_verdict"): "accuracy_yes_no",
}
"""Old values of keys, and new ones."""
OPTIONS = {
    "--none-above": "--no-answer-threshold",
    "--shown": "--examples",
    "--worth": "--choice-score",
    "--complete": "--closed-world",
    "--incomplete": "--open-world",
    "--means": "--type",
}
"""Old and new options of the command line."""
WEIGHTS = {"gate": "answer_type", "stepper": "layerwise", "reasoner.marks": "reasoner.node_features"}
"""Old and new modules of a reader or its arithmetic head, which are prefixes of weight names."""
FIELDS = {"verdict": "yes_no"}
"""Old and new fields of a row of question data."""

RELATION_TYPES = {"kind": "is-a", "narrows": "subclass-of", "by whom": "agent", "when": "time"}
"""Old and new relation types, as in a graph's manifest, its RDF and the option `--type`."""
MANIFEST = {"complete": "closed_world", "means": "types"}
"""Old and new keys of a graph's manifest, of its relations, and of what its sources declare."""

Report = Callable[[str, str], object]
"""Called with the old and the new name."""


def print_renamed(where: str) -> Report:
    """A report on standard error, one line per old name."""
    return lambda old, new: print(f"kgqa: {where}{old} is now called {new}", file=sys.stderr)


def current_keys(values: Mapping[str, Any], report: Report | None = None) -> dict[str, Any]:
    """A recipe or card with current names; if both names are given, the current one counts.

    Raises:
        InputError: a key turns on a removed feature.
    """
    made: dict[str, Any] = _keys(dict(values), "", report or (lambda _old, _new: None))
    if isinstance(made.get("recipe"), dict):
        made["recipe"] = current_keys(made["recipe"])
    return made


def _keys(value: Any, place: str, report: Report) -> Any:
    if isinstance(value, list):
        return [_keys(item, place, report) for item in value]
    if not isinstance(value, dict):
        known = VALUES.get((place, value)) if isinstance(value, str) else None
        if known is not None:
            report(f"{place}={value}", f"{place}={known}")
        return value if known is None else known
    made: dict[str, Any] = {}
    for name, inner in value.items():
        old = f"{place}.{name}" if place else name
        if old in RETIRED:
            if inner and RETIRED[old]:
                raise InputError(f"{old}: {RETIRED[old]}")
            continue
        new = KEYS.get(old, str(name))
        if new != name:
            report(old, new)
        found = _keys(inner, old, report)
        if new in made or (new != name and new in value):
            other = made.get(new, value.get(new))
            found = {**found, **other} if isinstance(found, dict) and isinstance(other, dict) else other
        made[new] = found
    return made


def current_arguments(given: list[str]) -> list[str]:
    """The command line with current options."""
    made = []
    for argument in given:
        name, equals, value = argument.partition("=")
        if name in OPTIONS:
            print_renamed("")(name, OPTIONS[name])
            argument = f"{OPTIONS[name]}{equals}{value}"
        made.append(argument)
    return made


def current_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of question data with current fields; if both names are given, the current one counts."""
    return {FIELDS.get(name, name): value for name, value in row.items() if FIELDS.get(name) not in row}


def current_manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A graph's manifest with current keys and relation types."""

    def renamed(part: Mapping[str, Any]) -> dict[str, Any]:
        return {MANIFEST.get(name, name): value for name, value in part.items()}

    made = renamed(manifest)
    made["relations"] = [renamed(row) for row in made["relations"]]
    for row in made["relations"]:
        if "types" in row:
            row["types"] = sorted(RELATION_TYPES.get(name, name) for name in row["types"])
    if "declared" in made:
        made["declared"] = renamed(made["declared"])
    return made


def current_weights(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Weights by current names; `stored` are those of a file."""
    made = {}
    for name, value in stored.items():
        old = next((prefix for prefix in WEIGHTS if name.startswith(f"{prefix}.")), None)
        made[name if old is None else WEIGHTS[old] + name.removeprefix(old)] = value
    return made
