from __future__ import annotations

import copy

import pytest
import torch
from support.tiny import fit, language_model, tiny
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from kgqa.data.datasets.labelled import Labelled
from kgqa.models.classifiers import Encoding, load_classifier
from kgqa.models.collation.collate import Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.encoders.variants import ENCODERS, build_encoder
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.objectives.base import tokens_of
from kgqa.objectives.distillation import (
    DistilBERT,
    Distillation,
    MobileBERT,
    TaughtBatch,
    TaughtQA,
    TaughtTask,
    TinyBERT,
    aligned_batch,
    every_second_layer,
    layers_of,
    moved,
    same_embedding,
    soft_loss,
    soft_losses,
)
from kgqa.types import Example, InputError, Passage, Question, Span

SETTINGS = ReasonerSettings(graph_size=16, num_layers=2, num_heads=2, dropout=0.0)
PASSAGE = "i want to plant flowers so i dug the ground with red trowel"
EXAMPLES = [
    Example(Question("what did i dig with ?", (), Passage(PASSAGE)), spans=(Span(49, 59),)),
    Example(Question("what is it used for ?"), concepts=("trowel",)),
    Example(Question("what is it ?", ("trowel", "excavator", "bees")), choice=1),
]


@pytest.fixture
def letters() -> Tokenizer:
    """Another tokenizer: a token a letter."""
    signs = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz?."]
    signs += [f"##{sign}" for sign in signs[5:]]
    made = Tokenizer(models.WordPiece({sign: n for n, sign in enumerate(signs)}, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    return made


def collate(student: Collator, teacher: Collator, digging, examples=EXAMPLES) -> TaughtBatch:  # type: ignore[no-untyped-def]
    """Questions as both read them."""
    subgraphs = graphs(digging)[: len(examples)]
    return aligned_batch(student(examples, subgraphs, True), teacher(examples, subgraphs, True))


def graphs(digging):  # type: ignore[no-untyped-def]
    return [[digging], [digging], [digging] * 3]


def test_a_teacher_that_says_the_same_teaches_nothing(tokenizer, encoder, digging) -> None:  # type: ignore[no-untyped-def]
    reader = Reader(encoder, SETTINGS).eval()
    collator = Collator(tokenizer)
    batch = collate(collator, collator, digging)
    assert (batch.row == torch.arange(batch.student.num_rows)).all()
    scores = reader(batch.student)
    parts = soft_losses(scores, scores, batch, 2.0)
    assert {name: count for name, (_, count) in parts.items()} == {
        "span": 1,
        "choice": 1,
        "concept": 2,
        "answer_type": 2,
    }
    assert all(abs(float(value)) < 1e-4 for value, _ in parts.values())


def test_every_head_learns_what_a_teacher_of_another_tokenizer_says(  # type: ignore[no-untyped-def]
    tokenizer, letters, encoder, digging
) -> None:
    from transformers import ElectraConfig, ElectraModel

    torch.manual_seed(1)
    sizes = {"embedding_size": 16, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = ElectraConfig(vocab_size=letters.get_vocab_size(), intermediate_size=16, **sizes)
    teacher = Reader(ElectraModel(config), SETTINGS).eval()
    for module in teacher.modules():  # says something
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.normal_(module.weight, std=0.5)
    student = Reader(encoder, SETTINGS)
    batch = collate(Collator(tokenizer), Collator(letters), digging)
    assert batch.teacher.tokens.input_ids.shape[1] > batch.student.tokens.input_ids.shape[1]
    objective = TaughtQA(student, teacher, lambda *_: None, temperature=1.0, soft=1.0)
    assert not any(p.requires_grad for p in teacher.parameters())
    assert {id(p) for p in objective.parameters()} == {id(p) for p in student.parameters()}
    before = objective(batch).parts
    fit(lambda: objective(batch).total, student.parameters())
    after = objective(batch).parts
    for head in ("span", "choice", "concept", "answer_type"):
        assert after[f"soft_{head}"] < 0.7 * before[f"soft_{head}"], head


def test_spans_are_understood_by_characters(tokenizer, letters, digging) -> None:  # type: ignore[no-untyped-def]
    batch = collate(Collator(tokenizer), Collator(letters), digging, EXAMPLES[:1])
    its = torch.zeros(batch.teacher.tokens.input_ids.shape)
    assert batch.teacher.gold is not None and batch.student.gold is not None
    its[0, batch.teacher.gold.start[0]], its[0, 0] = 0.75, 0.25
    width = batch.student.tokens.input_ids.shape[1]
    output = moved(its, batch.start, width)
    assert output[0, batch.student.gold.start[0]] == 0.75 and output[0, 0] == 0.25
    ends = torch.zeros_like(its)
    ends[0, batch.teacher.gold.end[0]] = 1.0
    assert moved(ends, batch.end, width)[0, batch.student.gold.end[0]] == 1.0


def test_rows_of_other_windows_learn_from_gold_alone(tokenizer, letters, digging) -> None:  # type: ignore[no-untyped-def]
    other = Collator(letters, InputConfig(max_tokens=48, stride=8))
    batch = collate(Collator(tokenizer), other, digging)
    assert (
        batch.row[0] == -1
        and (batch.row[1:] >= 0).all()
        and (batch.node[batch.student.graph.batch == 0] == -1).all()
    )


ROWS = {
    "sentence": [Labelled("i dig", label="a"), Labelled("bees in the hive", label="b")],
    "tagging": [Labelled(words=("i", "dig"), tags=("a", "b")), Labelled(words=("bees",), tags=("b",))],
    "ending": [Labelled("i dig", endings=("hole", "red bees"), label="0")],
}


def taught(kind: str, tokenizer, tmp_path, **options):  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    labels = ["a", "b"]
    encoder = build_encoder(tiny(), tokenizer.get_vocab_size(), "eager")
    teacher = load_classifier(encoder, tmp_path, kind, labels)  # type: ignore[arg-type]
    teacher.set_attn_implementation("eager")  # type: ignore[operator]
    student = copy.deepcopy(teacher)
    task = TaughtTask(student, kind, teacher=teacher, save=lambda *_: None, **options).eval()
    batch = Encoding(tokenizer, kind, labels, 32, False)(ROWS[kind])  # type: ignore[arg-type]
    return task, student, batch


@pytest.mark.parametrize("kind", list(ROWS))
@pytest.mark.parametrize("layers", [False, True])
def test_no_difference_no_loss_and_any_difference_some(kind: str, layers: bool, tokenizer, tmp_path) -> None:  # type: ignore[no-untyped-def]
    task, student, batch = taught(kind, tokenizer, tmp_path, layers=layers, temperature=2.0)
    with torch.no_grad():
        assert abs(float(task(batch).total)) < 1e-6
        for parameter in student.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
        assert float(task(batch).total) > 1e-5


def test_gold_labels_have_what_the_teacher_leaves(tokenizer, tmp_path) -> None:  # type: ignore[no-untyped-def]
    task, _, batch = taught("sentence", tokenizer, tmp_path, soft=0.25)
    with torch.no_grad():
        found = task(batch)
    assert float(found.total) == pytest.approx(0.75 * float(found.parts["sentence"]), abs=1e-5)


def model(variant: str = "bert", layers: int = 4, width: int = 32, attention: str | None = "eager"):  # type: ignore[no-untyped-def]
    torch.manual_seed(layers * width)
    return language_model(variant, attention=attention, hidden_size=width, num_hidden_layers=layers)[0]


def distil(kind: type[Distillation], student, teacher, variant: str = "bert", **options):  # type: ignore[no-untyped-def]
    return kind(
        student, ENCODERS[variant].predict, teacher, ENCODERS[teacher.config.model_type].predict, **options
    )


def test_no_difference_no_loss(draw) -> None:  # type: ignore[no-untyped-def]
    teacher = model()
    batch = draw(0)
    parts = distil(DistilBERT, copy.deepcopy(teacher), teacher).eval()(batch).parts
    assert abs(parts["soft"]) < 1e-5 and abs(parts["cosine"]) < 1e-5
    loss = distil(TinyBERT, copy.deepcopy(teacher), teacher, prediction=True).eval()(batch)
    assert abs(loss.total) < 1e-5 and len(loss.parts) == 4
    loss = distil(MobileBERT, copy.deepcopy(teacher), teacher, transfer_steps=8).train()(batch)
    assert abs(loss.total) < 1e-5


@pytest.mark.parametrize("kind", [DistilBERT, TinyBERT])
def test_student_comes_nearer(kind: type[Distillation], learn) -> None:  # type: ignore[no-untyped-def]
    narrow = 32 if kind is DistilBERT else 16
    objective = distil(kind, model(layers=2, width=narrow), model())
    before, after = learn(objective, steps=30)
    assert after < before


def test_distilbert_body_under_a_bert_teacher(learn) -> None:  # type: ignore[no-untyped-def]
    before, after = learn(
        distil(DistilBERT, model("distilbert", 2, attention=None), model(), "distilbert"), 20
    )
    assert after < before


def test_mobilebert_learns_layer_by_layer(draw) -> None:  # type: ignore[no-untyped-def]
    student, teacher = model("mobilebert", 2), model("ib-bert", 2)
    objective = distil(MobileBERT, student, teacher, "mobilebert", transfer_steps=4)
    seen = [objective.layer]
    for step in range(4):
        objective.begin_step(step)
        loss = objective(draw(step))
        loss.total.backward()
        objective.begin_step(step + 1)
        seen.append(objective.layer)
    assert seen == [0, 0, 1, 1, None]
    assert not any(p.requires_grad for p in layers_of(student)[0].parameters())
    after = objective(draw(9))
    assert set(after.parts) == {"mlm", "soft"}
    assert all(p.requires_grad for p in layers_of(student)[0].parameters())


def test_mobilebert_transfer_falls(learn) -> None:  # type: ignore[no-untyped-def]
    objective = distil(
        MobileBERT, model("mobilebert", 2), model("ib-bert", 2), "mobilebert", transfer_steps=20
    )
    before, after = learn(objective, steps=50, rate=2e-3)
    assert after < before


def test_start_takes_every_second_layer() -> None:
    teacher, student = model(layers=4), model(layers=2)
    every_second_layer(student, teacher)
    for number, layer in enumerate(layers_of(student)):
        theirs = layers_of(teacher)[2 * number].state_dict()
        assert all(torch.equal(value, theirs[name]) for name, value in layer.state_dict().items())


def test_teacher_is_neither_trained_nor_saved(draw) -> None:  # type: ignore[no-untyped-def]
    teacher = model()
    objective = distil(DistilBERT, model(layers=2), teacher)
    objective(draw(0)).total.backward()
    assert all(p.grad is None for p in teacher.parameters())
    assert not any("teacher" in name for name in objective.state_dict())


def test_soft_loss_is_a_divergence() -> None:
    logits = torch.randn(2, 3, 7)
    assert abs(soft_loss(logits, logits, 2.0)) < 1e-6
    assert soft_loss(logits, logits.flip(-1), 2.0) > 0.1
    assert torch.allclose(soft_loss(logits, logits + 5, 2.0), torch.zeros(()), atol=1e-5)


def test_distilbert_takes_a_berts_layers_under_its_own_names() -> None:
    teacher, student = model(layers=4), model("distilbert", 2, attention="eager")
    every_second_layer(student, teacher)
    ids = torch.randint(5, 128, (2, 16))
    theirs = layers_of(teacher)[2].state_dict()
    ours = layers_of(student)[1].state_dict()
    assert torch.equal(ours["attention.q_lin.weight"], theirs["attention.self.query.weight"])
    assert torch.equal(ours["output_layer_norm.bias"], theirs["output.LayerNorm.bias"])
    transform = teacher.state_dict()["cls.predictions.transform.dense.weight"]
    assert torch.equal(student.vocab_transform.weight, transform)
    whole = model("distilbert", 4, attention="eager").eval()
    every_second_layer(whole, teacher)
    with torch.no_grad():
        teacher.bert.embeddings.token_type_embeddings.weight.zero_()
        assert torch.allclose(whole(input_ids=ids).logits, teacher.eval()(input_ids=ids).logits, atol=1e-4)


def test_a_student_of_another_width_is_told_so() -> None:
    with pytest.raises(InputError, match="hidden_size"):
        every_second_layer(model("distilbert", 2, width=16, attention="eager"), model())


def test_mobilebert_takes_its_teachers_embedding_and_leaves_it_during_the_transfer(draw) -> None:  # type: ignore[no-untyped-def]
    student, teacher = model("mobilebert", 2), model("ib-bert", 2)
    same_embedding(student, teacher)
    ours, theirs = student.mobilebert.embeddings, teacher.mobilebert.embeddings
    assert torch.equal(ours.word_embeddings.weight, theirs.word_embeddings.weight)
    head = "cls.predictions.transform.dense.weight"
    assert torch.equal(student.state_dict()[head], teacher.state_dict()[head])
    objective = distil(MobileBERT, student, teacher, "mobilebert", transfer_steps=2)
    objective(draw(0)).total.backward()
    assert all(p.grad is None for p in ours.parameters())
    objective.begin_step(2)
    objective(draw(2)).total.backward()
    assert ours.word_embeddings.weight.grad is not None


def test_the_temperature_is_the_one_given(draw) -> None:  # type: ignore[no-untyped-def]
    student, teacher = model(layers=2), model()
    losses = []
    for temperature in (1.0, 2.0, 8.0):
        torch.manual_seed(0)
        objective = distil(DistilBERT, student, teacher, temperature=temperature).eval()
        losses.append(float(objective(draw(0)).parts["soft"]))
    assert len(set(losses)) == 3


def test_mobilebert_learns_the_mean_and_variance_of_feature_maps(draw) -> None:  # type: ignore[no-untyped-def]
    """A map that is shifted and stretched has no normalised difference, and yet something to learn."""
    student, teacher = model("mobilebert", 2), model("ib-bert", 2)
    objective = distil(MobileBERT, student, teacher, "mobilebert", transfer_steps=4).train()
    batch = draw(0)
    masked, read = objective.hide(batch), tokens_of(batch)
    with torch.no_grad():
        theirs = objective.read(teacher.base_model, masked, batch)
        ours = copy.deepcopy(theirs)
        ours.hidden_states = tuple(3 * states + 1 for states in theirs.hidden_states)
        terms = objective.compare(ours, theirs, masked, read)
    assert abs(terms["feature"].total) < 1e-2 * read.sum() and terms["statistics"].total > read.sum() / 2
