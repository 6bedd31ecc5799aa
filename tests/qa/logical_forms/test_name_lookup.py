"""Forms name things by label, local name or IRI; what is unknown is said in one line with what is near."""

from __future__ import annotations

import pytest

from kgqa.qa.logical_forms.graph_index import NameLookup
from kgqa.types import InputError


def test_relations_by_any_of_their_names(names: NameLookup) -> None:
    assert names.relation("top speed") == names.relation("topSpeed") == names.relation("Top_Speed")


def test_what_is_unknown_is_named(names: NameLookup) -> None:
    with pytest.raises(InputError, match="drivr.*'driver'"):
        names.parse('(JOIN (R drivr) "Rook")')
    with pytest.raises(InputError, match="Pen 9"):
        names.parse('(JOIN (R driver) "Pen 9")')


def test_shown_as_it_is_parsed(names: NameLookup) -> None:
    text = '(FILTER > "top speed" "100" (CLASS "Van"))'
    assert names.show(names.parse(text)) == text
