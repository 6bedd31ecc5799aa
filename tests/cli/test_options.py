from typing import get_args

from kgqa.cli import options


def test_every_option_says_what_it_is_for() -> None:
    for name in ("Graph", "Model", "Device", "Language", "Shots", "Shown", "Worth", "AsJson"):
        declared = get_args(getattr(options, name))[-1]
        assert declared.help
