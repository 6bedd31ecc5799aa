"""The recipe for another backbone, rehearsed with a small random model of each published kind."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
import torch
import transformers
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from kgqa.data.corpus.tokenizer import load_tokenizer
from kgqa.models.pretrained import load_pretrained
from kgqa.qa.answerer import Answerer
from kgqa.settings import RECIPES, ROOT
from kgqa.trainer.data.mixture import DataSettings
from kgqa.trainer.finetuning.reader import ReaderRecipe, train_reader
from kgqa.trainer.recipe import load_recipe
from kgqa.types import InputError, Question

TEXTS = [
    "What did I dig with?",
    "I want to plant flowers, so I dug the ground.",
    "Is a trowel a tool?",
    "yes no",
]
BERT = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")
ROBERTA = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
SIZES = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 64}
ONE_KIND = {"type_vocab_size": 1, "max_position_embeddings": 514, "pad_token_id": 1}
BACKBONES: dict[str, tuple[str, tuple[str, ...], dict[str, object]]] = {
    "deberta-v2": (
        "sentencepiece",
        BERT,
        {
            "relative_attention": True,
            "position_buckets": 256,
            "pos_att_type": ["p2c", "c2p"],
            "share_att_key": True,
            "norm_rel_ebd": "layer_norm",
            "position_biased_input": False,
            "type_vocab_size": 0,
            "pad_token_id": 0,
        },
    ),
    "roberta": ("bytes", ROBERTA, ONE_KIND),
    "electra": ("wordpiece", BERT, {"embedding_size": 32, "pad_token_id": 0}),
    "modernbert": (
        "bytes",
        BERT,
        {"local_attention": 16, **{f"{n}_token_id": i for i, n in enumerate(("pad", "cls", "sep"))}},
    ),
    "xlm-roberta": ("sentencepiece", ROBERTA, ONE_KIND),
}
"""Kind of tokenizer, special tokens and what else the configuration says, as those that are published."""


def tokenizer_of(kind: str, special: tuple[str, ...]) -> Tokenizer:
    """A tokenizer learnt from a few sentences, of the parts that Hugging Face's fast ones are made of."""
    options = {"special_tokens": list(special), "show_progress": False}
    if kind == "wordpiece":
        made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
        trainer: trainers.Trainer = trainers.WordPieceTrainer(vocab_size=200, **options)
    elif kind == "bytes":
        made = Tokenizer(models.BPE())
        made.pre_tokenizer, made.decoder = (
            pre_tokenizers.ByteLevel(add_prefix_space=False),
            decoders.ByteLevel(),
        )
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, **options)
    else:
        made = Tokenizer(models.Unigram())
        made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(" {2,}", " ")])
        made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=120, unk_token=special[3], **options)
    made.train_from_iterator(TEXTS, trainer)
    made.add_special_tokens([AddedToken(token, special=True) for token in special])
    ends = [
        next(token for token in pair if token in special) for pair in (("[CLS]", "<s>"), ("[SEP]", "</s>"))
    ]
    made.post_processor = processors.TemplateProcessing(
        single=f"{ends[0]} $A {ends[1]}", special_tokens=[(token, made.token_to_id(token)) for token in ends]
    )
    return made


def backbone(family: str, folder: Path) -> Path:
    """A folder as somebody has it on disk."""
    kind, special, more = BACKBONES[family]
    tokenizer = tokenizer_of(kind, special)
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(family, vocab_size=tokenizer.get_vocab_size(), **SIZES, **more)
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("family", sorted(BACKBONES))
def test_a_backbone_is_trained_exported_packed_and_asked(
    family: str, tmp_path: Path, tools_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    passage = "I want to plant flowers, so I dug the ground."
    asked = [
        {
            "question": "What did I dig with?",
            "passage": passage,
            "answers": ["trowel"],
            "source": "knowledge",
        },
        {"question": "What did I dig?", "passage": passage, "answers": ["the ground"]},
        {"question": "Is a trowel a tool?", "yes_no": True},
        {"question": "What is it?", "choices": ["trowel", "hive"], "choice": 0},
    ]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    small = [
        "reasoner.graph_size=16",
        "reasoner.inner_size=16",
        "reasoner.num_layers=2",
        "reasoner.num_heads=2",
    ]
    budget = ["trainer.max_minutes=9", "trainer.max_steps=2", "trainer.precision=fp32", "reading.meaning=''"]
    folder = backbone(family, tmp_path / family)
    overrides = [f"encoder.folder={folder}", *small, *budget, "encoder.freeze_layers=1"]
    recipe = load_recipe(RECIPES / "answer" / "backbone.toml", overrides, ReaderRecipe)
    data = DataSettings(name=str(tmp_path / "own.jsonl"), graph=str(tools_file), batch_questions=4)
    assert train_reader(recipe.model_copy(update={"data": [data]}), tmp_path / "run").steps == 2

    export, released = tmp_path / "run" / "export", tmp_path / "released"
    runpy.run_path(str(ROOT / "training" / "pack.py"))["pack"](export, released)
    question = Question("What did I dig with?", passage=passage)
    answers = [Answerer.load(str(read), str(tools_file)).answer(question) for read in (export, released)]
    assert answers[0].candidates and answers[0].candidates[0].score == pytest.approx(
        answers[1].candidates[0].score, abs=0.1
    )
    assert transformers.AutoModel.from_pretrained(export).config.model_type == family


def test_a_folder_as_it_is_on_the_hub_is_told_how_to_be_saved(tmp_path: Path) -> None:
    folder = backbone("electra", tmp_path / "hub")
    (folder / "tokenizer.json").rename(folder / "spm.model")
    with pytest.raises(InputError, match="AutoTokenizer"):
        load_tokenizer(folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="safetensors"):
        load_pretrained(transformers.AutoModel, folder)
