from pathlib import Path

import pytest
import torch
from support.tiny import tiny

from kgqa.data.datasets.labelled import Labelled
from kgqa.models.classifiers import (
    Classifier,
    Encoding,
    LinearClassifier,
    load_classifier,
    save_classifier,
    task_scores,
)
from kgqa.models.encoders.variants import build_encoder
from kgqa.types import InputError

ROWS = {
    "sentence": [Labelled("dig a hole", label="a"), Labelled("red", label="b")],
    "pair": [Labelled("dig a hole", "the ground", label="a"), Labelled("red", "blue", label="b")],
    "tagging": [
        Labelled(words=("dig", "a", "hole"), tags=("a", "b", "b")),
        Labelled(words=("red",), tags=("a",)),
    ],
    "ending": [
        Labelled("dig", endings=("a hole", "blue", "red"), label="0"),
        Labelled("is", endings=("it", "he")),
    ],
}


def make(variant: str, kind: str, tokenizer, **options: object):  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    encoder = build_encoder(tiny(variant, max_position_embeddings=64), tokenizer.get_vocab_size())
    model = load_classifier(encoder, Path("x"), kind, ["a", "b"]).eval()  # type: ignore[arg-type]
    causal = variant.startswith("gpt")
    return model, Encoding(tokenizer, kind, ["a", "b"], 64, causal, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", sorted(ROWS))
@pytest.mark.parametrize("variant", ["bert", "modernbert", "xlnet", "gpt1"])
def test_kept_and_loaded_it_says_the_same(
    variant: str, kind: str, tokenizer, tokenizer_folder, tmp_path
) -> None:  # type: ignore[no-untyped-def]
    import transformers

    model, encode = make(variant, kind, tokenizer)
    rows = ROWS[kind]
    with torch.no_grad():
        plain = task_scores(model, encode(rows), kind)  # type: ignore[arg-type]
    save_classifier(
        model, tmp_path, {"kind": kind, "labels": ["a", "b"], "max_tokens": 64, "both_orders": False}
    )
    (tmp_path / "tokenizer.json").write_bytes((tokenizer_folder / "tokenizer.json").read_bytes())
    opened = Classifier(tmp_path, "cpu")
    with torch.no_grad():
        assert torch.allclose(task_scores(opened.model, encode(rows), kind), plain, atol=1e-5)  # type: ignore[arg-type]
    reported = opened(rows)
    alone = opened(rows[:1])
    key = {"tagging": "tags", "ending": "ending"}.get(kind, "label")
    assert len(reported) == 2 and reported[0][key] == alone[0][key], "padding changes nothing"
    if kind == "ending":
        assert [len(row["scores"]) for row in reported] == [3, 2]
    assert isinstance(opened.model, LinearClassifier) == (variant == "gpt1" and kind in {"tagging", "ending"})
    if kind == "pair":
        loaded, info = transformers.AutoModelForSequenceClassification.from_pretrained(
            tmp_path, output_loading_info=True
        )
        assert not info["missing_keys"] and loaded.config.id2label == {0: "a", 1: "b"}


def test_both_orders_are_added(tokenizer) -> None:  # type: ignore[no-untyped-def]
    model, encode = make("gpt1", "pair", tokenizer, both_orders=True)
    there, back = [Labelled("dig", "red")], [Labelled("red", "dig")]
    with torch.no_grad():
        assert torch.allclose(
            task_scores(model, encode(there), "pair"), task_scores(model, encode(back), "pair")
        )


def test_a_folder_without_a_classifier_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a classifier"):
        Classifier(tmp_path)
