import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.collation.overlap_features import MARKS, marks, read_words
from kgqa.models.collation.person_masking import Pieces
from kgqa.models.collation.reading import ReadingSettings
from kgqa.models.reader import Reader, load_reader, save_reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.types import Example, Passage, Question, Span, Subgraph

PASSAGE = "the house is red . i dug in the garden , with flowers"


def read(tokenizer, vectors, text: str):
    encoding = tokenizer.encode(text, add_special_tokens=False)
    return read_words(text, Pieces(encoding.ids, encoding.offsets), vectors)


def test_tokens_know_their_words(tokenizer, vectors) -> None:
    text = read(tokenizer, vectors, "A smoker, zq flower")
    words = [text.lemmas[i] if i < len(text.lemmas) else "" for i in text.of_token.tolist()]
    assert words == ["a", "smoker", "", "zq", "zq", "flower"]
    assert text.first.tolist() == [True, True, False, True, False, True]


def test_marks_tell_what_recurs_and_where(tokenizer, vectors) -> None:
    passage, question = (read(tokenizer, vectors, t) for t in (PASSAGE, "what flower is in the garden"))
    marked = dict(zip(passage.surfaces, marks(passage, question, None).tolist(), strict=True))
    assert marked["garden"][0] > 0.5 and marked["garden"][1] == 1
    assert marked["flowers"][0] > 0.5 and marked["flowers"][1] == 0  # another form of the word
    assert marked["red"][0] == 0 and marked["the"][0] == 0 and marked["the"][1] == 1
    assert marked["with"][3] > marked["house"][3] == 0 and marked["dug"][4] > 0  # after it, before it
    assert marked["dug"][7] > 2 * marked["red"][7] > 0  # of the sentence
    assert marks(read(tokenizer, vectors, ""), question, None).shape == (0, MARKS)


def test_windows_and_choices_keep_words_and_tokens_in_step(tokenizer, vectors) -> None:
    collate = Collator(tokenizer, ReadingSettings(max_tokens=32, stride=4), words=vectors)
    examples = [
        Example(Question("what is in the garden", passage=Passage(PASSAGE * 6)), spans=(Span(4, 9),)),
        Example(Question("what is it", ("bee", "garden trowel"), Passage(PASSAGE)), choice=1),
    ]
    batch = collate(examples, [[Subgraph()]] * 2, with_gold=True).batch
    tokens = batch.tokens
    garden = tokenizer.token_to_id("garden")
    assert tokens.word_vector.shape == (*tokens.input_ids.shape, 8)
    assert batch.num_rows > 4
    there = tokens.input_ids == garden
    assert there.sum() > 4 and (tokens.word_vector[there][:, 0] == 2).all() and (tokens.part[there] > 0).all()
    assert (tokens.part[~tokens.attention_mask] == 0).all()


def test_a_reader_that_is_told_starts_at_the_one_that_is_not(
    tokenizer, tokenizer_folder, encoder, vectors, digging, tmp_path
) -> None:
    examples = [Example(Question("what did i dig with", passage=Passage(PASSAGE)), concepts=("trowel",))]
    settings = ReasonerSettings(graph_size=16, num_layers=1, num_heads=2, word_size=vectors.size)
    reader = Reader(encoder, settings).eval()
    told, silent = (Collator(tokenizer, words=w)(examples, [[digging]], True).batch for w in (vectors, None))
    with torch.no_grad():
        assert torch.allclose(reader.stepper.walk(told.tokens), reader.stepper.walk(silent.tokens), atol=1e-6)
        reader.stepper.clues.weight.normal_()
        assert not torch.allclose(
            reader.stepper.walk(told.tokens), reader.stepper.walk(silent.tokens), atol=1e-2
        )
    save_reader(reader, tokenizer_folder, tmp_path, {"name": "told"})
    again, _ = load_reader(tmp_path)
    assert torch.allclose(again.stepper.clues.weight, reader.stepper.clues.weight, atol=1e-2)
