from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from kgqa.graph.load import open_graph
from kgqa.graph.retrieval.ablation import no_facts
from kgqa.models.collation.collate import Collator
from kgqa.trainer.data import mixture
from kgqa.trainer.data.mixture import (
    DataSettings,
    MixedBatches,
    MixturePart,
    cache_key,
    cached_subgraphs,
    check_sides,
    first_rows,
    load_examples,
    sentences,
)
from kgqa.types import Example, InputError, Link, NodeRole, Passage, Question, Relation, Subgraph


def part(name: str, count: int, weight: float, size: int) -> MixturePart:
    examples = [
        Example(Question(f"{name} {i}", passage=Passage("it " * (i % 7))), concepts=("x",))
        for i in range(count)
    ]
    return MixturePart(
        DataSettings(name=name, weight=weight, batch_questions=size), examples, [[Subgraph()]] * count
    )


def test_batches_are_a_function_of_the_step(tokenizer) -> None:
    parts = [part("what", 20, 3, 4), part("where", 9, 1, 2)]
    first = MixedBatches(parts, Collator(tokenizer), seed=1)
    again = MixedBatches(parts, Collator(tokenizer), seed=1)
    ahead = [first[step].tokens.input_ids for step in range(30)]
    for step in (17, 3, 29):
        assert torch.equal(ahead[step], again[step].tokens.input_ids)
    other = MixedBatches(parts, Collator(tokenizer), seed=2)
    assert any(not torch.equal(ahead[s], other[s].tokens.input_ids) for s in range(5))


def test_an_epoch_sees_every_example_once(tokenizer) -> None:
    only = part("what", 21, 1, 4)
    batches = MixedBatches([only], Collator(tokenizer), seed=0)
    chosen = [i for batch in batches._order(0, 0) for i in batch.tolist()]
    assert sorted(chosen) == list(range(21)) and batches.steps_per_epoch == 6


def test_wordings_of_one_question_are_in_one_batch(tokenizer) -> None:
    examples = [
        Example(Question("who " * (n % 5 + 1), passage=Passage("it")), same=f"q{n % 12}" if n < 24 else "")
        for n in range(60)
    ]
    settings = DataSettings(name="own", batch_questions=6)
    batches = MixedBatches(
        [MixturePart(settings, examples, [[Subgraph()]] * 60)], Collator(tokenizer), seed=0
    )
    chosen = [batch.tolist() for batch in batches._order(0, 0)]
    assert sorted(i for batch in chosen for i in batch) == list(range(60))
    together = sum(n in batch and n + 12 in batch for n in range(12) for batch in chosen)
    assert together >= 9  # the end of a batch may part some
    assert max(batches[step].gold.same.max().item() for step in range(10)) >= 1


def test_weights_share_out_the_steps(tokenizer) -> None:
    batches = MixedBatches([part("a", 8, 3, 4), part("b", 8, 1, 4)], Collator(tokenizer), seed=0)
    assert abs(float((batches._which[:4000] == 0).mean()) - 0.75) < 0.03


def test_sentences_with_a_hidden_concept_are_made_of_texts(
    tmp_path: Path, tools_file: Path, monkeypatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "talk.txt").write_text("We saw it there. Nothing else was said of it.\n", encoding="utf-8")
    settings = DataSettings(name="aligned", texts=(str(tmp_path / "talk.txt"),))
    assert list(sentences(settings)) == ["We saw it there.", "Nothing else was said of it."]
    with pytest.raises(InputError, match="no examples"):
        load_examples(settings, open_graph(str(tools_file)))
    with pytest.raises(InputError, match="texts"):
        list(sentences(DataSettings(name="aligned")))


def test_any_set_can_be_asked_with_choices(tmp_path: Path) -> None:
    rows = [f'{{"question": "What is it {i}?", "answers": ["thing {i}"]}}' for i in range(6)]
    (tmp_path / "own.jsonl").write_text("\n".join(rows))
    settings = DataSettings(name=str(tmp_path / "own.jsonl"), choices=3)
    found = load_examples(settings, open_graph("everyday"))
    assert len(found) == 6
    assert all(e.question.choices[e.choice or 0] == f"thing {e.question.text[-2]}" for e in found)


def graph(name: str) -> Subgraph:
    return Subgraph(
        nodes=(f"ex:{name}", "ex:dig"),
        labels=(name, "dig"),
        roles=np.array([1, 0], dtype=np.int32),
        scores=np.array([0.5, 1.0], dtype=np.float32),
        edges=np.array([[0, 0, 1]], dtype=np.int32),
        weights=np.array([2.0], dtype=np.float32),
        relations=(Relation("ex:UsedFor", "used for", "is used for"),),
        links=(Link(NodeRole.QUESTION, 0, 3, 1),),
    )


def test_what_is_read_equals_what_was_found(tmp_path: Path) -> None:
    examples = [Example(Question("dig?")), Example(Question("with?", ("a", "b")))]
    found = [[graph("trowel")], [graph("spade"), Subgraph()]]
    key = cache_key(examples, "hash", "n=10")
    lookup = iter(found)
    first = cached_subgraphs(examples, tmp_path, key, lambda _: next(lookup))
    second = cached_subgraphs(examples, tmp_path, key, lambda _: [])
    assert [len(group) for group in second] == [1, 2]
    for a, b in zip(sum(first, []), sum(second, []), strict=True):
        assert (a.nodes, a.labels, a.links, a.relations) == (b.nodes, b.labels, b.links, b.relations)
        assert a.triples == b.triples and np.allclose(a.scores, b.scores) and (a.roles == b.roles).all()


def test_subgraphs_are_read_one_by_one_and_changed_on_the_way(tmp_path: Path) -> None:
    examples = [Example(Question(str(i))) for i in range(3)]
    found = iter([[graph("trowel")], [], [graph("spade")]])
    stored = cached_subgraphs(examples, tmp_path, "k", lambda _: next(found), change=lambda g: no_facts(g))
    assert len(stored) == 3 and stored[1] == [] and stored[-1][0].labels == ("spade", "dig")
    assert len(stored[2][0].edges) == 0
    with pytest.raises(IndexError):
        stored[3]
    again = cached_subgraphs(examples, tmp_path, "k", lambda _: [])
    assert len(again[2][0].edges) == 1


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "k.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match=r"k\.safetensors.*delete"):
        cached_subgraphs([], tmp_path, "k", lambda _: [])


def test_the_key_follows_the_content() -> None:
    one, two = [Example(Question("a"))], [Example(Question("b"))]
    assert cache_key(one, "g", "s") == cache_key(one, "g", "s")
    keys = {
        cache_key(one, "g", "s"),
        cache_key(two, "g", "s"),
        cache_key(one, "h", "s"),
        cache_key(one, "g", "t"),
    }
    assert len(keys) == 4


def test_the_key_follows_the_code_and_tables_of_retrieval(monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache_key([], "g")
    monkeypatch.setattr(mixture, "retrieval", mixture.linking)  # as if its text were another
    assert cache_key([], "g") != before


def test_the_key_follows_the_sentence_of_a_relation(edit_copy) -> None:  # type: ignore[no-untyped-def]
    before, sentence = cache_key([], "g"), '\nIsA = "{A} is a kind of {b}"'
    edit_copy(mixture.verbalize, "fact_sentences.toml", sentence, sentence)
    assert cache_key([], "g") == before
    edit_copy(mixture.verbalize, "fact_sentences.toml", sentence, sentence.replace("kind", "sort"))
    assert cache_key([], "g") != before


def test_a_set_of_which_all_rows_are_held_out_is_refused() -> None:
    kept = part("what", 3, 1, 4)
    none = MixturePart(kept.settings, [], [])
    check_sides([kept], [none, kept], 0.2)
    for sides, words in ((([kept, none], [kept]), "all rows of what"), (([kept], [none]), "no rows")):
        with pytest.raises(InputError, match=words):
            check_sides(*sides, 0.2)


def test_the_first_rows_of_a_part_may_be_taken_alone() -> None:
    whole = part("what", 5, 1, 4)
    assert first_rows(whole, 2).examples == whole.examples[:2] and len(first_rows(whole, 2).subgraphs) == 2
    assert first_rows(whole, None).examples == first_rows(whole, 9).examples == whole.examples


def test_the_first_rows_are_one_or_more() -> None:
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        DataSettings(name="own.jsonl", limit=-3)
