from pathlib import Path

import pytest

from kgqa.data.corpus.shards import fact_documents, read_facts
from kgqa.types import InputError, Triple


def test_facts_are_read_and_said_once(tmp_path: Path) -> None:
    path = tmp_path / "facts.tsv"
    path.write_text(
        "UsedFor\tgarden_trowel\tdig\t2\nRelatedTo\ta\tb\t3\nIsA\ttrowel\ttool\t0.5\nHasA\tpot\tlid\n"
    )
    facts = list(read_facts(path))
    assert facts == [Triple("garden trowel", "UsedFor", "dig", 2.0), Triple("pot", "HasA", "lid")]
    documents = list(fact_documents(facts * 5, sentences=4))
    assert [len(d) for d in documents] == [4, 4, 2]
    assert documents == list(fact_documents(facts * 5, sentences=4))


def test_a_short_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "facts.tsv").write_text("IsA\tcat\tanimal\nIsA cat animal\n")
    with pytest.raises(InputError, match="line 2"):
        list(read_facts(tmp_path / "facts.tsv"))
    (tmp_path / "facts.tsv").write_text("UsedFor\ttrowel\tdigging\theavy\n")
    with pytest.raises(InputError, match="line 1.*not a number"):
        list(read_facts(tmp_path / "facts.tsv"))
