import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.collation.person_masking import SOMEBODY, Anybody, Pieces
from kgqa.types import Example, Passage, Question, Subgraph


def test_a_name_is_one_token_whoever_it_is(tokenizer) -> None:
    anybody = Anybody(tokenizer)
    pieces = Pieces([5, 6, 7, 8, 9], [(0, 2), (2, 5), (5, 7), (8, 11), (12, 17)])  # "Ngozi's dug Felix"
    she = tokenizer.token_to_id(SOMEBODY)
    assert anybody(pieces, [(0, 5), (12, 17)]) == Pieces(
        [she, 7, 8, she], [(0, 5), (5, 7), (8, 11), (12, 17)]
    )
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
