from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from support.tiny import fit, tiny

from kgqa.batch import Loss, QABatch
from kgqa.models.classifiers import LinearClassifier, TaskBatch, task_scores
from kgqa.models.collation.collate import Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.collation.sentence_batch import pad_rows
from kgqa.models.dense_retrieval import FactEncoder
from kgqa.models.encoders.variants import build_encoder
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.objectives.finetuning import PAIRS, QA, Contrastive, FactBatch, SiFT, Task, consistency, pairs_of
from kgqa.types import Example, InputError, Passage, Question, Span, Subgraph


def test_the_loss_is_the_readers_and_export_saves_it(tokenizer, encoder, digging, tmp_path) -> None:
    reader = Reader(encoder, ReasonerSettings(graph_size=16, num_layers=2, num_heads=2, dropout=0.0)).eval()
    saved = []
    objective = QA(reader, lambda trained, folder: saved.append((trained, folder)))
    batch = Collator(tokenizer)([Example(Question("what"), concepts=("trowel",))], [[digging]], True).batch
    assert objective(batch).total.item() == reader.loss(batch).total.item()
    objective.export(tmp_path)
    assert saved == [(reader, tmp_path)]
    assert {id(p) for p in objective.encoder.parameters()} < {id(p) for p in objective.parameters()}


def batch(seed: int) -> TaskBatch:
    """Rows that hold token 40 or not, of different lengths."""
    draw = torch.Generator().manual_seed(seed)
    rows, labels = [], []
    for _ in range(16):
        ids = torch.randint(6, 39, (int(torch.randint(3, 9, (1,), generator=draw)),), generator=draw).tolist()
        labels.append(int(torch.randint(0, 2, (1,), generator=draw)))
        ids[len(ids) // 2] = 40 if labels[-1] else 5
        rows.append(([2, *ids, 3], len(ids) + 2))
    return TaskBatch(pad_rows(rows, 0), torch.tensor(labels), torch.arange(16))


def task(encoder, **options) -> Task:  # type: ignore[no-untyped-def]
    return Task(LinearClassifier(encoder, 2, "sentence"), "sentence", **{"save": lambda *_: None, **options})


def test_held_out_loss_falls(encoder, learn) -> None:  # type: ignore[no-untyped-def]
    objective = task(encoder)
    before, after = learn(objective, steps=30, rate=3e-3, batch=batch)
    assert after < before / 2
    objective.eval()
    found = task_scores(objective.model, batch(99), "sentence").argmax(-1)
    assert (found == batch(99).label).float().mean() > 0.9


def test_padding_changes_nothing(encoder) -> None:  # type: ignore[no-untyped-def]
    model = task(encoder).eval().model
    rows = [([2, 9, 8, 3], 4), ([2, 9, 8, 7, 6, 5, 3], 7)]
    one, both = (
        TaskBatch(pad_rows(some, 0), torch.zeros(len(some)), torch.arange(len(some)))
        for some in (rows[:1], rows)
    )
    assert torch.allclose(
        task_scores(model, both, "sentence")[0], task_scores(model, one, "sentence")[0], atol=1e-5
    )


def test_export_saves_the_classifier_and_a_frozen_encoder_is_not_trained(encoder, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    saved = []
    objective = task(encoder, save=lambda model, folder: saved.append((model, folder)), frozen=True).train()
    objective.export(tmp_path)
    assert saved == [(objective.model, tmp_path)]
    assert not encoder.training and {n for n, p in objective.named_parameters() if p.requires_grad} == {
        "model.out.weight",
        "model.out.bias",
    }


PASSAGE = Passage("I want to plant flowers, so I dug the ground.")


def asked(*texts: str, same: str = "a", passage: Passage | None = PASSAGE) -> list[Example]:
    return [Example(Question(t, passage=passage), spans=(Span(16, 23),), same=same) for t in texts]


@pytest.fixture
def reader(encoder) -> Reader:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    settings = ReasonerSettings(graph_size=16, num_layers=2, num_heads=2, dropout=0.0, yes_no=True)
    reader = Reader(encoder, settings).eval()
    with torch.no_grad():  # as first drawn it says much the same of every text
        for weights in reader.parameters():
            weights += 0.15 * torch.randn_like(weights)
    return reader


@pytest.fixture
def make(tokenizer, digging):  # type: ignore[no-untyped-def]
    collator = Collator(tokenizer, InputConfig(packed=True, candidates=3, yes_no=True))

    def batch(examples: list[Example]) -> QABatch:
        return collator(examples, [[digging]] * len(examples), with_gold=True).batch

    return batch


def test_equal_wordings_agree_and_others_do_not(reader, make) -> None:  # type: ignore[no-untyped-def]
    for texts, least in (
        (("what was planted", "what was planted"), False),
        (("what grew", "who dug here"), True),
    ):
        batch = make(asked(*texts))
        apart, pairs = consistency(reader(batch), batch)
        assert pairs == 1 and (apart.item() > 1e-4) is least


def test_what_is_no_wording_of_the_other_is_no_pair(make) -> None:  # type: ignore[no-untyped-def]
    other = Passage("It rained.")
    examples = [*asked("what", same="a"), *asked("what", same="b"), *asked("what", same="")]
    beside = [Example(Question("what", passage=other), same="a")]
    assert not pairs_of(make([*examples, *beside]))
    assert len(pairs_of(make([*asked("what"), *examples, *asked("which", "where")]))) == 3


def test_it_draws_wordings_together(reader, make) -> None:  # type: ignore[no-untyped-def]
    batch = make(asked("what was planted", "which things did I plant there"))
    start = copy.deepcopy(reader.state_dict())

    def left(weight: float) -> float:
        reader.load_state_dict(start)
        objective = QA(reader, lambda *_: None, consistency=weight)
        fit(lambda: objective(batch).total, objective.parameters(), 10, 1e-3)
        return consistency(reader(batch), batch)[0].item()

    assert left(20.0) < left(0.0) / 2


def test_it_is_a_term_of_the_loss_only_where_it_is_asked_for(reader, make) -> None:  # type: ignore[no-untyped-def]
    batch = make(asked("what was planted", "what grew"))
    plain, with_it = QA(reader, lambda *_: None), QA(reader, lambda *_: None, consistency=2.0)
    loss, more = plain(batch), with_it(batch)
    assert PAIRS not in loss.terms and plain.counts(batch) == loss.counts
    assert with_it.counts(batch) == more.counts and more.counts[PAIRS] == 1
    apart = consistency(reader(batch), batch)[0]
    assert more.total.item() == pytest.approx(loss.total.item() + 2 * apart.item(), rel=1e-5)
    alone = make(asked("what was planted"))
    assert with_it(alone).total.item() == pytest.approx(plain(alone).total.item())


def test_a_question_comes_nearer_to_the_fact_that_answers_it(tokenizer, encoder) -> None:
    torch.manual_seed(0)
    reads = FactEncoder(encoder, tokenizer)
    batch = FactBatch(
        reads.tokens(["what did i dig with", "what calms bees"]),
        reads.tokens(["trowel is used for dig", "honey", "shovel", "hole in the ground"]),
        torch.ones(2, 4, dtype=torch.bool),
    )
    assert batch.input_ids.numel() == 2 * 8 + 4 * 8
    objective = Contrastive(reads, 0.05, lambda *_: None)
    first = float(objective(batch).total.detach())
    fit(lambda: objective(batch).total, objective.parameters(), 20, 1e-3)
    loss = objective(batch)
    assert float(loss.total.detach()) < 0.5 * first and float(loss.parts["found"]) == 1.0


def test_a_fact_that_answers_it_too_is_not_held_against_a_question(tokenizer, encoder) -> None:
    reads = FactEncoder(encoder.eval(), tokenizer)
    both = reads.tokens(["dig", "dig"]), reads.tokens(["trowel", "trowel"])
    objective = Contrastive(reads, 0.05, lambda *_: None)
    alone = torch.eye(2, dtype=torch.bool)
    assert float(objective(FactBatch(*both, alone)).total.detach()) < 1e-4
    assert float(objective(FactBatch(*both, torch.ones(2, 2, dtype=torch.bool))).total.detach()) > 0.5


def sift_batch(seed: int) -> TaskBatch:
    draw = torch.Generator().manual_seed(seed)
    ids = torch.randint(6, 40, (16, 8), generator=draw)
    labels = torch.randint(0, 2, (16,), generator=draw)
    ids[:, 4] = torch.where(labels > 0, 40, 5)
    return TaskBatch(pad_rows([([2, *row, 3], 10) for row in ids.tolist()], 0), labels, torch.arange(16))


def make_sift(variant: str, weight: float = 1.0, **options: float) -> SiFT:
    torch.manual_seed(0)
    head = LinearClassifier(build_encoder(tiny(variant), 64), 2, "sentence")
    return SiFT(Task(head, "sentence", save=lambda *_: None), weight, **options)


@pytest.mark.parametrize(
    "variant", ["bert", "roberta", "albert", "electra", "deberta-v3", "modernbert", "distilbert"]
)
def test_the_loss_falls_with_it(variant: str, learn) -> None:  # type: ignore[no-untyped-def]
    objective = make_sift(variant)
    objective.train()
    assert float(objective(sift_batch(0)).parts["sift"]) > 0
    before, after = learn(objective, steps=15, rate=3e-3, batch=sift_batch)
    assert after < before


def test_no_perturbation_no_divergence() -> None:
    objective = make_sift("bert").train()
    with torch.no_grad():
        clean = objective.inner.log_probabilities(sift_batch(0))
    assert objective.divergence(clean, sift_batch(0), None).item() == pytest.approx(0, abs=1e-8)
    still = torch.zeros(16, 10, 32)
    assert objective.divergence(clean, sift_batch(0), still).item() == pytest.approx(0, abs=1e-6), (
        "scale-invariant"
    )
    assert not any(m._forward_pre_hooks for m in objective.modules())


def test_the_step_goes_where_it_hurts_more_than_noise() -> None:
    objective = make_sift("modernbert", noise=1e-3, step=5e-2)
    with torch.no_grad():
        clean = objective.inner.log_probabilities(sift_batch(0))
    worst = objective._direction(clean, sift_batch(0))
    noise = torch.randn_like(worst)
    noise *= worst.norm(dim=(1, 2), keepdim=True) / noise.norm(dim=(1, 2), keepdim=True)
    assert worst.abs().max() < 6e-2
    assert objective.divergence(clean, sift_batch(0), worst) > objective.divergence(
        clean, sift_batch(0), noise
    )


def test_evaluation_and_gradients_are_the_inner_ones() -> None:
    objective = make_sift("bert").eval()
    plain = objective.inner(sift_batch(0))
    assert (
        torch.equal(objective(sift_batch(0)).total, plain.total)
        and "sift" not in objective(sift_batch(0)).parts
    )
    objective.train()
    loss: Loss = objective(sift_batch(0))
    assert loss.total > plain.total
    loss.total.backward()
    word = objective.encoder.embeddings.word_embeddings.weight  # type: ignore[union-attr]
    assert word.grad is not None and torch.isfinite(word.grad).all()


def test_questions_too(encoder, tokenizer) -> None:  # type: ignore[no-untyped-def]
    reader = Reader(encoder, ReasonerSettings(name="text-only"))
    objective = SiFT(QA(reader, lambda *_: None)).train()
    examples = [
        Example(Question("what did i dig with ?", ("trowel", "excavator")), choice=0),
        Example(Question("what ?", passage=Passage("i dug with a trowel")), spans=(Span(13, 19),)),
    ]
    graphs = [[Subgraph(), Subgraph()], [Subgraph()]]
    loss = objective(Collator(tokenizer, InputConfig(max_tokens=32))(examples, graphs, with_gold=True).batch)
    assert torch.isfinite(loss.total) and float(loss.parts["sift"]) > 0


def test_an_encoder_without_normalised_words_is_refused() -> None:
    with pytest.raises(InputError, match="set sift to 0"):
        make_sift("gpt2")


def test_what_is_kept_steady_has_the_concept_head(tokenizer) -> None:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    sizes = ReasonerSettings(name="text-only", graph_size=16, num_heads=2)
    inner = QA(Reader(build_encoder(tiny(), tokenizer.get_vocab_size()), sizes), lambda *_: None).eval()
    collate = Collator(tokenizer, InputConfig(max_tokens=32))
    sift_batch = collate(
        [Example(Question("what garden"), concepts=("bee",))], [[Subgraph()]], with_gold=True
    ).batch
    answer_type, choice, concept, span = inner.log_probabilities(sift_batch)
    assert len(concept) == len(sift_batch.graph.role) and len(answer_type) == 1 and span.dim() == 3
    assert torch.allclose(concept.exp().sum(), torch.ones(())), "the only row's"
