import json
from pathlib import Path

import pytest

from kgqa.cli.ask import continue_text, is_prompted, open_prompter, prompt_one
from kgqa.cli.evaluate import evaluate_prompted
from kgqa.cli.predict import PredictionRun, predict
from kgqa.types import InputError, Question


@pytest.fixture
def folder(tokenizer, tokenizer_folder: Path, tmp_path: Path) -> Path:  # type: ignore[no-untyped-def]
    from kgqa.models.encoders.variants import EncoderSettings, build_language_model, save_model

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 16}
    settings = EncoderSettings(variant="gpt2", max_position_embeddings=128, **sizes)  # type: ignore[arg-type]
    save_model(build_language_model(settings, tokenizer.get_vocab_size()), tmp_path / "gpt")
    (tmp_path / "gpt" / "tokenizer.json").write_bytes((tokenizer_folder / "tokenizer.json").read_bytes())
    return tmp_path / "gpt"


def test_which_folders_are_prompted(folder: Path, encoder, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert is_prompted(str(folder)) and not is_prompted("kgqa-base") and not is_prompted(str(tmp_path))
    encoder.save_pretrained(tmp_path / "encoder")
    assert not is_prompted(str(tmp_path / "encoder"))
    (folder / "reader.json").write_text("{}")
    assert not is_prompted(str(folder))


def test_asked_measured_and_gone_on_with(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {
        "passage": "i dig a hole .",
        "question": "with what ?",
        "answers": ["trowel"],
        "source": "knowledge",
    }
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"id": str(n), **row}) + "\n" for n in range(4)))
    prompter = open_prompter(str(folder), 2, tmp_path / "rows.jsonl", "token", "cpu")
    assert len(prompter.examples) == 2
    prompt_one(Question("with what ?", ("trowel", "hive")), prompter, True)
    assert json.loads(capsys.readouterr().out)["answer"] in {"trowel", "hive"}
    evaluate_prompted("own", tmp_path / "rows.jsonl", prompter, 3, True)
    figures = json.loads(capsys.readouterr().out)
    assert figures["questions"] == 3 and figures["shots"] == 2 and 0 <= figures["exact_match"] <= 1
    continue_text("i dig", str(folder), 4, 0.0, 0, "cpu")
    assert capsys.readouterr().out.startswith("i dig ")


def test_a_file_is_answered_and_gone_on_with(folder: Path, tmp_path: Path) -> None:
    asked, out = tmp_path / "asked.jsonl", tmp_path / "out.jsonl"
    rows = [{"id": str(n), "question": "with what ?", "choices": ["trowel", "hive"]} for n in range(3)]
    asked.write_text("".join(json.dumps(row) + "\n" for row in rows))
    predict(asked, out, PredictionRun("everyday", str(folder), 2, "cpu"))
    whole = out.read_text().splitlines(keepends=True)
    assert [json.loads(line)["id"] for line in whole] == ["0", "1", "2"]
    out.write_text("".join(whole[:2]))
    predict(asked, out, PredictionRun("everyday", str(folder), 2, "cpu"))
    again = out.read_text().splitlines(keepends=True)
    assert again[:2] == whole[:2] and json.loads(again[2])["answer"] == json.loads(whole[2])["answer"]


def test_what_is_missing_is_said(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--examples"):
        open_prompter(str(folder), 2, None, "token")
    with pytest.raises(InputError, match="--choice-score"):
        open_prompter(str(folder), 0, None, "best")
    with pytest.raises(InputError, match="no causal language model"):
        continue_text("i dig", str(tmp_path), 4, 0.0, 0)
