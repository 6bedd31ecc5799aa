"""What a Rust library that breaks down raises is told in one line."""

from __future__ import annotations

import json

import pytest
from tokenizers import Tokenizer, models

from kgqa.limits.cancellation import is_panic, report_panics
from kgqa.types import InputError

TOKENIZER = json.loads(Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]")).to_str())
BAD = json.dumps(
    {**TOKENIZER, "normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}}
).encode()


def test_a_panic_is_told_in_one_line_and_all_else_passes() -> None:
    with (
        pytest.raises(InputError, match=r"(?s)\Aa\.json: a library crashed \([^\n]*\); save it again\Z"),
        report_panics("a.json", "save it again"),
    ):
        Tokenizer.from_buffer(BAD)
    for other in (KeyboardInterrupt, SystemExit, ValueError):
        with pytest.raises(other), report_panics("a.json", ""):
            raise other


def test_a_panic_is_no_exception() -> None:
    with pytest.raises(BaseException) as caught:
        Tokenizer.from_buffer(BAD)
    assert is_panic(caught.value) and not is_panic(RuntimeError()) and not is_panic(KeyboardInterrupt())
