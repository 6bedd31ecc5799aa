import pytest

from kgqa.models.collation.input_config import InputConfig, input_config_of
from kgqa.types import InputError


def test_settings_come_from_the_card() -> None:
    settings = InputConfig(max_nodes=50, facts=2)
    assert input_config_of({"input": settings.model_dump()}) == settings


def test_what_an_older_card_still_names_is_dropped() -> None:
    assert input_config_of({"input": {"facts": 2, "reread": 4}}) == InputConfig(facts=2)
    with pytest.raises(InputError, match="input.rereads"):
        input_config_of({"input": {"rereads": 4}})


def test_an_older_card_has_them_among_the_recipe() -> None:
    old = input_config_of({"max_nodes": 20, "ablation": "shuffled", "recipe": {"max_tokens": 192}})
    assert (old.max_nodes, old.ablation, old.max_tokens, old.facts) == (20, "shuffled", 192, 0)
