from __future__ import annotations

import pytest

from kgqa.types import Triple
from kgqa.verbalize.templates import corpus_templates, filled, verbalize


@pytest.mark.parametrize("relation", sorted(corpus_templates()))
def test_every_wording_says_head_and_tail(relation: str) -> None:
    for choice in range(len(corpus_templates()[relation])):
        output = verbalize(Triple("xtrowel", relation, "ydig"), choice).lower()
        assert "xtrowel" in output and "ydig" in output and output[-1] == "."


def test_what_tells_a_label_from_another_is_not_said() -> None:
    assert filled("{A} / {B}", "crane (machine)", "{A}") == "crane / {A}"
