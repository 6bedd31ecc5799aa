from kgqa.data.corpus.shards import fact_documents
from kgqa.types import Triple


def test_facts_are_said_in_documents_of_six() -> None:
    facts = [Triple("garden trowel", "UsedFor", "dig", 2.0), Triple("pot", "HasA", "lid", float("nan"))]
    left_out = [Triple("a", "RelatedTo", "b", 3.0), Triple("trowel", "IsA", "tool", 0.5)]
    documents = list(fact_documents([*facts, *left_out] * 5))
    assert [len(document) for document in documents] == [6, 4]
    told = " ".join(sum(documents, []))
    assert "garden\u00a0trowel" in told and "lid" in told and "tool" not in told
    assert documents == list(fact_documents([*facts, *left_out] * 5))
