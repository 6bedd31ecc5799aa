import json
from pathlib import Path

import pytest
import torch
from support.tiny import fit
from transformers import AutoModel

from kgqa.models.collation.collate import Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.reader import Reader, load_reader, save_reader, yes_no_scores
from kgqa.models.reasoners import REASONERS, ReasonerSettings
from kgqa.types import Example, InputError, Passage, Question, Span, Subgraph

EXAMPLES = [
    Example(
        Question("what did i dig with", passage=Passage("i want to plant flowers")), concepts=("trowel",)
    ),
    Example(
        Question("what did i dig with", passage=Passage("i want to build a house")), concepts=("excavator",)
    ),
    Example(Question("what is red", passage=Passage("the shovel is red")), spans=(Span(0, 10),)),
    Example(Question("who is he", passage=Passage("the house is red"))),
    Example(Question("what is it", ("bee", "hive")), choice=1),
]


def settings(name: str) -> ReasonerSettings:
    return ReasonerSettings(name=name, graph_size=16, num_layers=2, num_heads=2, dropout=0.0)


def batch(tokenizer, digging):
    return Collator(tokenizer)(EXAMPLES, [[digging]] * 4 + [[digging, Subgraph()]], with_gold=True).batch


@pytest.mark.parametrize("name", sorted(REASONERS))
def test_every_reasoner_learns_every_kind_of_answer(name: str, tokenizer, encoder, digging) -> None:
    torch.manual_seed(0)
    reader = Reader(encoder, settings(name))
    questions = batch(tokenizer, digging)
    first = float(reader.loss(questions).total.detach())
    fit(lambda: reader.loss(questions).total, reader.parameters())
    loss = reader.loss(questions)
    assert set(loss.parts) == {"span", "choice", "concept", "answer_type"}
    assert float(loss.total.detach()) < 0.5 * first


@pytest.mark.parametrize("name", ["text-only", "k-bert", "fused"])
def test_choices_are_learnt_in_branches(name: str, tokenizer, encoder, digging) -> None:
    torch.manual_seed(0)
    reader = Reader(encoder, settings(name))
    examples = [
        Example(Question("what is it", ("bee", "hive", "trowel")), choice=1),
        Example(Question("what is red", ("bee", "hive"), Passage("the shovel is red")), choice=0),
    ]
    collated = Collator(tokenizer, InputConfig(packed=True))(
        examples, [[Subgraph()], [digging]], with_gold=True
    )
    fit(lambda: reader.loss(collated.batch).total, reader.parameters())
    with torch.no_grad():
        assert float(reader.loss(collated.batch).parts["choice"]) < 0.1
        ranked = reader.choice.decode(reader(collated.batch).choice, collated)
    assert [found[0].text for found in ranked] == ["hive", "bee"]


def test_a_saved_reader_reads_the_same_and_its_encoder_loads_without_kgqa(
    tokenizer, tokenizer_folder: Path, encoder, digging, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    reader = Reader(encoder.half().float(), settings("fused")).half().float().eval()
    save_reader(reader, tokenizer_folder, tmp_path, {"name": "toy"})
    again, card = load_reader(tmp_path)
    questions = batch(tokenizer, digging)
    with torch.no_grad():
        assert torch.allclose(reader(questions).concept, again(questions).concept, atol=1e-4)
    assert card["name"] == "toy"
    plain = AutoModel.from_pretrained(tmp_path, dtype=torch.float32).eval()
    with torch.no_grad():
        ids = questions.tokens.input_ids[:1]
        assert torch.allclose(plain(ids).last_hidden_state, reader.encoder(ids).last_hidden_state, atol=1e-4)


def test_a_checkpoint_of_another_version_says_so(tokenizer_folder: Path, encoder, tmp_path: Path) -> None:
    save_reader(Reader(encoder, settings("text-only")), tokenizer_folder, tmp_path, {})
    card = json.loads((tmp_path / "reader.json").read_text())
    (tmp_path / "reader.json").write_text(json.dumps({**card, "format": 99}))
    with pytest.raises(InputError, match="format 99"):
        load_reader(tmp_path)
    (tmp_path / "reader.json").write_text("{")
    with pytest.raises(InputError, match="not a reader's card"):
        load_reader(tmp_path)


def test_yes_and_no_are_learnt_where_the_gate_has_classes_for_them(tokenizer, encoder, digging) -> None:
    reader = Reader(encoder, settings("text-only").model_copy(update={"yes_no": True}))
    asked = [
        Example(Question("is it red", passage=Passage("the shovel is red")), yes_no_label=v)
        for v in (True, False)
    ]
    questions = Collator(tokenizer)(asked, [[digging]] * 2, with_gold=True).batch
    assert reader(questions).answer_type.shape == (2, 5)
    assert set(reader.loss(questions).parts) == {"answer_type"}


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("reader.json", '{"format": 1}'),
        ("reader.json", '{"format": 1, "reasoner": {"name": "text-only", "graph_size": -1}}'),
        ("reader.json", '{"format": 1, "reasoner": {"name": "text-only", "wings": 2}}'),
        ("reader.json", '{"format": 1, "reasoner": {"name": "text-only"}, "answer_type": {"scale": 1}}'),
        ("config.json", "{"),
        ("config.json", '{"model_type": "none-such"}'),
        ("reader.safetensors", "cut"),
    ],
)
def test_a_damaged_checkpoint_is_one_sentence(
    file: str, content: str, tokenizer_folder: Path, encoder, tmp_path: Path
) -> None:
    save_reader(Reader(encoder, settings("text-only")), tokenizer_folder, tmp_path, {})
    (tmp_path / file).write_text(content)
    with pytest.raises(InputError) as caught:
        load_reader(tmp_path)
    assert "\n" not in str(caught.value) and str(tmp_path) in str(caught.value)


def test_a_flipped_bit_of_a_weight_is_noticed(tokenizer_folder: Path, encoder, tmp_path: Path) -> None:
    save_reader(Reader(encoder, settings("text-only")), tokenizer_folder, tmp_path, {})
    load_reader(tmp_path)
    for name in ("model.safetensors", "reader.safetensors"):
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(whole[:-1] + bytes([whole[-1] ^ 64]))
        with pytest.raises(InputError, match=f"{name}: damaged"):
            load_reader(tmp_path)
        (tmp_path / name).write_bytes(whole)
    card = json.loads((tmp_path / "reader.json").read_text())
    del card["checksums"]  # of an earlier version
    (tmp_path / "reader.json").write_text(json.dumps(card))
    load_reader(tmp_path)


def test_heads_must_share_the_width() -> None:
    with pytest.raises(ValueError, match="not a multiple of num_heads=3"):
        ReasonerSettings(graph_size=128, num_heads=3)


def test_weights_that_are_loaded_are_not_drawn_first(tokenizer_folder: Path, encoder, tmp_path: Path) -> None:
    save_reader(Reader(encoder, settings("fused")), tokenizer_folder, tmp_path, {})
    before = torch.get_rng_state()
    load_reader(tmp_path)
    assert torch.equal(torch.get_rng_state(), before)


def test_yes_and_no_are_learnt_in_branches_of_their_own(tokenizer, encoder, digging) -> None:
    torch.manual_seed(0)
    reader = Reader(encoder, settings("text-only").model_copy(update={"yes_no": True}))
    reading = InputConfig(packed=True, candidates=2, yes_no=True)
    asked = [
        Example(
            Question(f"is it {colour}", passage=Passage("the shovel is red")), yes_no_label=colour == "red"
        )
        for colour in ("red", "green")
    ]
    chosen = Example(Question("what is it", ("red", "green")), choice=0)
    collated = Collator(tokenizer, reading)([*asked, chosen], [[digging]] * 3, with_gold=True).batch
    scores = yes_no_scores(torch.arange(10.0), collated)
    assert scores is not None and scores.tolist() == [[2.0, 3.0], [6.0, 7.0], [0.0, 0.0]]
    without = Collator(tokenizer, InputConfig(packed=True, candidates=2))(asked, [[digging]] * 2).batch
    assert yes_no_scores(torch.arange(8.0), without) is None
    fit(lambda: reader.loss(collated).total, reader.parameters())
    answer_type = reader.eval()(collated).answer_type
    assert answer_type[:2].argmax(-1).tolist() == [3, 4]
