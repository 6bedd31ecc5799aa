import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa.settings import MODELS


def test_without_an_encoder_the_page_says_so(
    open_page: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGQA_ENCODER", str(tmp_path))
    page = open_page("learn").run()
    assert not page.exception and "No pretrained encoder" in page.info[0].value


@pytest.mark.skipif(not (MODELS / "kgqa-mini").is_dir(), reason="no shipped encoder here")
def test_hidden_words_corruption_attention_and_curves(open_page: Callable[[str], Any]) -> None:
    page = open_page("learn").run()
    assert not page.exception and not page.error
    press = {b.label: b for b in page.button}
    assert "dog" in "".join(item.proto.body for item in page.get("html"))
    press["Hide each word in turn"].click().run()
    assert "postman" in "".join(item.proto.body for item in page.get("html"))
    page.text_input(key="masked").input("She <b>dug</b> a hole.")
    {b.label: b for b in page.button}["Corrupt it"].click().run()
    output = "".join(item.proto.body for item in page.get("html"))
    assert not page.exception and "<mark" in output and "<b>" not in output
    assert "the encoder gives each word" in page.info[0].value.replace("\\", "")
    {b.label: b for b in page.button}["Guess"].click().run()
    assert "MASK" in page.error[0].value


@pytest.mark.skipif(not (MODELS / "kgqa-story").is_dir(), reason="no shipped storyteller here")
def test_who_sees_whom_and_a_story_goes_on(open_page: Callable[[str], Any]) -> None:
    page = open_page("learn").run()
    assert not [info for info in page.info if "causal" in info.value]
    before = "".join(item.proto.body for item in page.get("html"))
    {b.label: b for b in page.button}["Go on"].click().run()
    output = "".join(item.proto.body for item in page.get("html"))
    assert not page.exception and output.count("<em>") == before.count("<em>") + 1


def test_five_steps_show_what_is_really_there(open_page: Callable[[str], Any]) -> None:
    page = open_page("learn")
    output = []
    for step in range(5):
        page.session_state["step"] = step
        page.run()
        assert not page.exception and not page.error
        output.append("".join(item.proto.body for item in page.get("html")))
    assert "build a house" in output[0] and "<li" in output[1] and "border" in output[2] and "%" in output[3]
    assert "nowhere" in output[4] and len(set(output)) == 5
    (decided,) = (item.value for item in page.markdown if "The answer" in item.value)
    assert "%" in decided and decided.count("·") == 1


def test_three_charts_say_in_plain_words_what_was_measured(open_page: Callable[[str], Any]) -> None:
    page = open_page("learn").run()
    assert not page.exception
    drawn = [json.loads(item.proto.spec) for item in page.get("vega_lite_chart")]
    kinds = [(spec["mark"]["type"], spec["mark"]["aria"], bool(spec["description"])) for spec in drawn]
    assert kinds[:2] == [("bar", False, True), ("line", False, True)]
    assert "everything" in "".join(item.proto.body for item in page.get("html"))
