import torch

from kgqa.models.collate import Collator
from kgqa.models.encoders.stepping import Stepper
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.reasoners.kbert import KBert
from kgqa.types import Example, Link, NodeRole, Passage, Question, Subgraph

QUESTION = Question("what did i dig with", passage=Passage("he has the trowel"))


def test_branches_hang_on_their_mention(tokenizer, encoder, digging) -> None:
    from dataclasses import replace

    graph = replace(digging, links=(Link(NodeRole.PASSAGE, 11, 17, 2),))
    reasoner = KBert(Stepper(encoder), ReasonerSettings(name="k-bert"))
    batch = Collator(tokenizer)([Example(QUESTION)], [[graph]]).batch
    width = batch.tokens.input_ids.shape[1]
    ids, positions, visible = reasoner._sentence_tree(batch)
    branch = [tokenizer.id_to_token(i) for i in ids[0, width:].tolist()]
    assert branch == ["is", "used", "for", "plant", "flowers"]
    mention = batch.tokens.input_ids[0].tolist().index(tokenizer.token_to_id("trowel"))
    assert positions[0, width:].tolist() == [mention + i for i in range(1, 6)]
    assert visible[0, mention, width:].all() and not visible[0, 0, width:].any()
    assert visible[0, width, mention] and visible[0, width].sum() == 6


def test_without_facts_it_is_the_plain_encoder(tokenizer, encoder) -> None:
    stepper = Stepper(encoder)
    reasoner = KBert(stepper, ReasonerSettings(name="k-bert")).eval()
    batch = Collator(tokenizer)([Example(QUESTION)], [[Subgraph()]]).batch
    with torch.no_grad():
        assert torch.allclose(reasoner(stepper, batch).tokens, stepper.walk(batch.tokens), atol=1e-5)
