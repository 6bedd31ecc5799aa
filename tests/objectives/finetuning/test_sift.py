import pytest
import torch

from kgqa.batch import Loss
from kgqa.models.classifiers import LinearClassifier, TaskBatch
from kgqa.models.collation.collate import Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.collation.sentence_batch import pad_rows
from kgqa.models.encoders.variants import EncoderSettings, build_encoder
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.objectives.finetuning import QA, SiFT, Task
from kgqa.types import Example, InputError, Passage, Question, Span, Subgraph

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}


def batch(seed: int) -> TaskBatch:
    draw = torch.Generator().manual_seed(seed)
    ids = torch.randint(6, 40, (16, 8), generator=draw)
    labels = torch.randint(0, 2, (16,), generator=draw)
    ids[:, 4] = torch.where(labels > 0, 40, 5)
    return TaskBatch(pad_rows([([2, *row, 3], 10) for row in ids.tolist()], 0), labels, torch.arange(16))


def make(variant: str, weight: float = 1.0, **options: float) -> SiFT:
    torch.manual_seed(0)
    settings = EncoderSettings(variant=variant, max_position_embeddings=48, embedding_size=16, **SIZES)  # type: ignore[arg-type]
    head = LinearClassifier(build_encoder(settings, 64), 2, "sentence")
    return SiFT(Task(head, "sentence", save=lambda *_: None), weight, **options)


@pytest.mark.parametrize(
    "variant", ["bert", "roberta", "albert", "electra", "deberta-v3", "modernbert", "distilbert"]
)
def test_the_loss_falls_with_it(variant: str, learn) -> None:  # type: ignore[no-untyped-def]
    objective = make(variant)
    objective.train()
    assert float(objective(batch(0)).parts["sift"]) > 0
    before, after = learn(objective, steps=15, rate=3e-3, batch=batch)
    assert after < before


def test_no_perturbation_no_divergence() -> None:
    objective = make("bert").train()
    with torch.no_grad():
        clean = objective.inner.log_probabilities(batch(0))
    assert objective.divergence(clean, batch(0), None).item() == pytest.approx(0, abs=1e-8)
    still = torch.zeros(16, 10, 32)
    assert objective.divergence(clean, batch(0), still).item() == pytest.approx(0, abs=1e-6), (
        "scale-invariant"
    )
    assert objective.delta is None


def test_the_step_goes_where_it_hurts_more_than_noise() -> None:
    objective = make("modernbert", noise=1e-3, step=5e-2)
    with torch.no_grad():
        clean = objective.inner.log_probabilities(batch(0))
    worst = objective._direction(clean, batch(0))
    noise = torch.randn_like(worst)
    noise *= worst.norm(dim=(1, 2), keepdim=True) / noise.norm(dim=(1, 2), keepdim=True)
    assert worst.abs().max() < 6e-2
    assert objective.divergence(clean, batch(0), worst) > objective.divergence(clean, batch(0), noise)


def test_evaluation_and_gradients_are_the_inner_ones() -> None:
    objective = make("bert").eval()
    plain = objective.inner(batch(0))
    assert torch.equal(objective(batch(0)).total, plain.total) and "sift" not in objective(batch(0)).parts
    objective.train()
    loss: Loss = objective(batch(0))
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
        make("gpt2")


def test_what_is_kept_steady_has_the_concept_head(tokenizer) -> None:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    settings = EncoderSettings(variant="bert", max_position_embeddings=48, **SIZES)  # type: ignore[arg-type]
    sizes = ReasonerSettings(name="text-only", graph_size=16, num_heads=2)
    inner = QA(Reader(build_encoder(settings, tokenizer.get_vocab_size()), sizes), lambda *_: None).eval()
    collate = Collator(tokenizer, InputConfig(max_tokens=32))
    batch = collate(
        [Example(Question("what garden"), concepts=("bee",))], [[Subgraph()]], with_gold=True
    ).batch
    answer_type, choice, concept, span = inner.log_probabilities(batch)
    assert len(concept) == len(batch.graph.role) and len(answer_type) == 1 and span.dim() == 3
    assert torch.allclose(concept.exp().sum(), torch.ones(())), "the only row's"
