import torch

from kgqa.models.clues import MARKS, SOMEBODY, Anybody, Association, Pieces, from_facts, marks, read_words
from kgqa.models.collate import Collator
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
    collate = Collator(tokenizer, max_tokens=24, stride=4, words=vectors)
    examples = [
        Example(Question("what is in the garden", passage=Passage(PASSAGE * 3)), spans=(Span(4, 9),)),
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


def test_a_name_is_one_token_whoever_it_is(tokenizer) -> None:
    anybody = Anybody(tokenizer)
    pieces = Pieces([5, 6, 7, 8, 9], [(0, 2), (2, 5), (5, 7), (8, 11), (12, 17)])  # "Ngozi's dug Felix"
    she = tokenizer.token_to_id(SOMEBODY)
    assert anybody(pieces, [(0, 5), (12, 17)]) == Pieces([she, 7, 8, she], [(0, 5), (5, 7), (8, 11), (12, 17)])
    assert anybody(pieces, []) == pieces
    assert anybody.alike == {tokenizer.token_to_id("he"): she}  # the other words are pieces to this tokenizer


def test_only_who_is_asked_about_tells_two_people_apart(tokenizer, vectors) -> None:
    def asked(name: str, other: str):
        question = Question(f"what did {name} dig with", passage=Passage(f"{name} dug. {other} is red."))
        return Collator(tokenizer, words=vectors)([Example(question)], [[Subgraph()]]).batch.tokens

    one, same, two = asked("Ngozi", "Felix"), asked("Jack", "Malik"), asked("Anna", "Anna")
    he, she = asked("he", "she"), asked("she", "he")
    assert torch.equal(he.input_ids, she.input_ids) and torch.equal(he.marks, she.marks)
    assert torch.equal(one.input_ids, same.input_ids) and torch.equal(one.input_ids, two.input_ids)
    assert torch.equal(one.marks, same.marks) and not torch.equal(one.marks, two.marks)
    assert torch.equal(one.word_vector, same.word_vector)
    somebody = tokenizer.token_to_id(SOMEBODY)
    assert (one.input_ids == somebody).sum() == 3
    untold = Collator(tokenizer)([Example(Question("Jack dug"))], [[Subgraph()]]).batch.tokens
    assert not (untold.input_ids == somebody).any()


def test_association_prefers_what_goes_with_the_question(tokenizer, encoder, vectors, digging) -> None:
    torch.manual_seed(0)
    collate = Collator(tokenizer, words=vectors)
    plant = Example(Question("what did i plant the flowers with", ("smoker", "trowel")), choice=1)
    build = Example(Question("what did i build the house with", ("trowel", "excavator")), choice=1)
    keep = Example(Question("what did he see the bee with", ("excavator", "smoker")), choice=1)
    association = Association()
    optimizer = torch.optim.Adam(association.parameters(), 1e-2)
    known, asked = (collate(e, [[digging]] * len(e), with_gold=True).batch for e in ([plant, build], [keep]))
    assert association.choices(known).abs().sum() == 0 and association.nodes(known).abs().sum() == 0
    for _ in range(60):
        optimizer.zero_grad()
        scores = association.choices(known).view(2, 2).log_softmax(-1)
        (-scores[:, 1].mean()).backward()
        optimizer.step()
    unseen = association.choices(asked)
    assert unseen[1] > unseen[0]  # other words than it learnt from
    assert association.sources(asked).shape == (1, 3)


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
        assert not torch.allclose(reader.stepper.walk(told.tokens), reader.stepper.walk(silent.tokens), atol=1e-2)
    save_reader(reader, tokenizer_folder, tmp_path, {"name": "told"})
    again, _ = load_reader(tmp_path)
    assert torch.allclose(again.stepper.clues.weight, reader.stepper.clues.weight, atol=1e-2)


def test_an_unknown_word_is_known_by_its_facts() -> None:
    vectors = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 3.0], [0.0, 0.0], [0.0, 0.0]])
    edges = torch.tensor([[0, 1, 3], [1, 2, 4]])  # 3 and 4 know nothing of each other
    found = from_facts(vectors, edges)
    assert found.tolist() == [[1.0, 0.0], [0.5, 1.5], [0.0, 3.0], [0.0, 0.0], [0.0, 0.0]]
