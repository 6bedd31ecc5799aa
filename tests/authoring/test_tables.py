"""Tables of relations, types, orders and scales are read, and those of the shipped graph say all that they must."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_data.build.tables import (
    Order,
    Scale,
    read_concept_types,
    read_labels,
    read_orders,
    read_relations,
    read_scales,
)
from kgqa.settings import GRAPHS, RELATIONS
from kgqa.types import InputError


def test_a_table_of_relations_must_be_there_and_be_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_relations(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("[A\n")
    with pytest.raises(InputError, match="no table of relations"):
        read_relations(tmp_path / "bad.toml")


def test_every_relation_can_be_said_and_asked() -> None:
    table = read_relations(RELATIONS)
    assert len(table) >= 29
    for row in table.values():
        assert row.label and row.words and row.inverse and row.ko and row.ko_words and row.between
        assert 3 <= len(row.questions) <= 5
        assert all("{head}" in q or "{tail}" in q for q in row.questions)
        assert not all("{head}" in q and "{tail}" in q for q in row.questions)


def test_a_malformed_table_of_types(tmp_path: Path) -> None:
    assert read_concept_types(tmp_path / "types.toml") == {}
    for text in ("[tool", "[tool]\nroot = []\n", "tool = 3\n"):
        (tmp_path / "types.toml").write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match="types.toml"):
            read_concept_types(tmp_path / "types.toml")


def test_orders_are_read_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "typical.toml"
    assert read_orders(path) == []
    path.write_text('[[order]]\nhead = "dig"\nrelation = "HasInstrument"\ntails = ["shovel", "spoon"]\n')
    assert read_orders(path) == [Order("dig", "HasInstrument", ("shovel", "spoon"))]
    path.write_text('[[order]]\nhead = "dig"\n')
    with pytest.raises(InputError, match="typical.toml"):
        read_orders(path)
    path.write_text('[[order]]\nhead = "dig"\nrelation = "HasInstrument"\ntails = []\n')
    with pytest.raises(InputError, match="dig HasInstrument has fewer than two tails"):
        read_orders(path)
    assert len(read_orders(GRAPHS / "typical.toml")) >= 30


def test_scales_are_read_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "scales.toml"
    assert read_scales(path) == []
    path.write_text('[[scale]]\nrelation = "LargerThan"\nlevels = [["ant", "flea"], ["cat"]]\n')
    assert read_scales(path) == [Scale("LargerThan", (("ant", "flea"), ("cat",)))]
    path.write_text('[[scale]]\nrelation = "LargerThan"\nlevels = [["ant"], []]\n')
    with pytest.raises(InputError, match="LargerThan has fewer than two levels, or an empty one"):
        read_scales(path)


def test_names_in_other_languages(tmp_path: Path) -> None:
    (tmp_path / "de.tsv").write_text("hammer\tHammer; Fäustel\nnail\tNagel\n", encoding="utf-8")
    assert read_labels(tmp_path) == {"de": {"hammer": ["Hammer", "Fäustel"], "nail": ["Nagel"]}}
    for wrong in ("hammer", "hammer\t ", "hammer\tHammer\nhammer\tHämmerchen"):
        (tmp_path / "de.tsv").write_text(wrong, encoding="utf-8")
        with pytest.raises(InputError, match=r"de\.tsv:[12]: "):
            read_labels(tmp_path)
