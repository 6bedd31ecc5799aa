import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from kgqa.models.collation.collate import Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.objectives.distillation import TaughtBatch, TaughtQA, aligned_batch, moved, soft_losses
from kgqa.types import Example, Passage, Question, Span

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
    optimizer = torch.optim.AdamW(student.parameters(), 3e-3)
    before = objective(batch).parts
    for _ in range(40):
        objective(batch).total.backward()
        optimizer.step()
        optimizer.zero_grad()
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
