from pathlib import Path

import pytest

from apps.lens import Discriminator, Lens, TextGenerator, joined, whole_words
from kgqa.types import InputError


@pytest.fixture
def mlm_folder(encoder, encoder_folder: Path) -> Path:
    """An encoder with its word-guessing head, saved."""
    from transformers import ElectraForMaskedLM

    ElectraForMaskedLM(encoder.config).save_pretrained(encoder_folder)
    return encoder_folder


def test_hidden_words_and_attention(mlm_folder: Path) -> None:
    lens = Lens(mlm_folder)
    text = "i dug the [MASK] with a [MASK]"
    assert lens.words(text) == ["[CLS]", "i", "dug", "the", "[MASK]", "with", "a", "[MASK]", "[SEP]"]
    first, second = lens.guesses(text, 3)
    assert len(first) == len(second) == 3 and first[0].probability >= first[1].probability
    assert not {g.word for g in (*first, *second)} & set(text.split()) and all(
        g.word.isalpha() for g in first
    )
    for head in (0, None):
        words, rows = lens.attention("xylophone dug", 1, head)
        assert words == ["xylophone", "dug"] and [sum(row) for row in rows] == pytest.approx(
            [1.0, 1.0], abs=1e-4
        )
    assert [word for word, _, _ in lens.each_hidden("xylophone dug")] == ["xylophone", "dug"]
    assert whole_words(["a", "##b", "c"]) == [range(2), range(2, 3)] and whole_words([]) == []
    assert [word for word, _, _ in lens.each_hidden("i dug")] == ["i", "dug"]
    assert lens.guesses("nothing hidden") == [] and lens.each_hidden("") == []


def test_an_encoder_without_its_head_is_refused(model_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="head"):
        Lens(model_folder)
    with pytest.raises(InputError, match="no pretrained encoder"):
        Lens(tmp_path / "missing")


def test_words_are_drawn_anew(mlm_folder: Path) -> None:
    lens = Lens(mlm_folder)
    text, pairs = lens.corrupted("i dug the ground with a trowel", seed=1)
    assert text == joined(now for _, now in pairs) and joined(was for was, _ in pairs).startswith("i dug the")
    assert lens.corrupted("i dug the ground with a trowel", seed=1) == (text, pairs)
    assert lens.corrupted("") == ("", [])
    for seed in range(8):  # no half of a word is hidden, and none is drawn
        _, pairs = lens.corrupted("i dug the ground with a trowel", seed=seed)
        assert not any("##" in word for pair in pairs for word in pair)
        assert [was for was, _ in pairs] == ["i", "dug", "the", "ground", "with", "a", "trowel"]


def test_a_discriminator_judges_each_word(
    encoder, encoder_folder: Path, model_folder: Path, tmp_path: Path
) -> None:
    from transformers import ElectraForPreTraining

    ElectraForPreTraining(encoder.config).save_pretrained(encoder_folder)
    replaced_probabilities = Discriminator(encoder_folder).replaced_probabilities("i dug the ground")
    assert [word for word, _ in replaced_probabilities] == ["i", "dug", "the", "ground"]
    assert all(0 < p < 1 for _, p in replaced_probabilities)
    for other in (model_folder, tmp_path / "missing"):
        with pytest.raises(InputError):
            Discriminator(other)


def test_soft_targets_flatten_with_temperature(mlm_folder: Path) -> None:
    lens = Lens(mlm_folder)
    cold, hot = lens.softened("i dug the [MASK]", (1.0, 5.0), 3)
    assert [g.word for g in cold] == [g.word for g in hot]
    assert cold[0].probability - cold[2].probability > hot[0].probability - hot[2].probability
    assert lens.softened("i dug", (1.0,)) == []


def test_a_storyteller_sees_only_what_stands_before(causal_folder: Path, tmp_path: Path) -> None:
    reported = TextGenerator(causal_folder)
    words, rows = reported.attention("i dug the hole", 1)
    assert words == ["i", "dug", "the", "hole"] and reported.num_heads == 2
    assert all(rows[a][b] == 0 for a in range(4) for b in range(a + 1, 4))
    assert all(abs(sum(row) - 1) < 1e-4 for row in rows)
    assert isinstance(reported.generate("i dug", 3, 0.0), str)
    with pytest.raises(InputError, match="no causal"):
        TextGenerator(tmp_path)
