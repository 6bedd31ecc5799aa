"""A small data folder in the published files' own forms, and a masked language model over its words."""

import json
import shutil
from pathlib import Path

import pytest


@pytest.fixture
def glue(tmp_path: Path) -> Path:
    """Question sets and judged sentences that a tiny encoder can learn: one word decides."""
    folder = tmp_path / "data" / "qa"
    for name in ("CoLA", "SST-2", "RTE"):
        (folder / "glue" / name).mkdir(parents=True)
    (folder / "csqa").mkdir()
    (folder / "squad").mkdir()
    good, bad = "i dig a hole with red trowel", "i dig a hole with blue trowel"
    for split in ("train", "dev"):
        cola = "".join(f"x\t1\t\t{good}\nx\t0\t*\t{bad}\n" for _ in range(24))
        (folder / "glue" / "CoLA" / f"in_domain_{split}.tsv").write_text(cola)
        sst2 = "sentence\tlabel\n" + f"{good}\t1\n{bad}\t0\n" * 24
        (folder / "glue" / "SST-2" / f"{split}.tsv").write_text(sst2)
        rte = "n\ta\tb\tlabel\n" + f"0\ti dig\t{good}\tentailment\n1\ti dig\t{bad}\tnot_entailment\n" * 12
        (folder / "glue" / "RTE" / f"{split}.tsv").write_text(rte)
        options = [{"label": "A", "text": "trowel"}, {"label": "B", "text": "excavator"}]
        stem = {"stem": "what did i dig with ?", "choices": options}
        rows = [{"id": str(n), "question": stem, "answerKey": "A"} for n in range(12)]
        (folder / "csqa" / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        answers = [{"text": "trowel", "answer_start": 13}]
        asked = [{"id": str(n), "question": "with what ?", "answers": answers} for n in range(12)]
        paragraph = {"context": "i dig with a trowel .", "qas": asked}
        (folder / "squad" / f"{split}-v1.1.json").write_text(
            json.dumps({"data": [{"title": "digging", "paragraphs": [paragraph]}]})
        )
    return tmp_path / "data"


@pytest.fixture
def mlm_folder(tokenizer, tokenizer_folder: Path, tmp_path: Path) -> Path:  # type: ignore[no-untyped-def]
    """A masked language model of two layers with its tokenizer, saved."""
    import torch

    from kgqa.models.encoders.variants import EncoderSettings, build_language_model, save_model

    torch.manual_seed(0)
    settings = EncoderSettings(
        variant="modernbert",
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    folder = shutil.copytree(tokenizer_folder, tmp_path / "mlm")
    save_model(build_language_model(settings, tokenizer.get_vocab_size()), folder)
    return folder
