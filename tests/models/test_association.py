import torch

from kgqa.models.association import Association, from_facts
from kgqa.models.collation.collate import Collator
from kgqa.types import Example, Question


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


def test_an_unknown_word_is_known_by_its_facts() -> None:
    vectors = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 3.0], [0.0, 0.0], [0.0, 0.0]])
    edges = torch.tensor([[0, 1, 3], [1, 2, 4]])  # 3 and 4 know nothing of each other
    found = from_facts(vectors, edges)
    assert found.tolist() == [[1.0, 0.0], [0.5, 1.5], [0.0, 3.0], [0.0, 0.0], [0.0, 0.0]]
