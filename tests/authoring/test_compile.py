"""Blocks become one graph: what is the same concept, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_data.build.compile import SourceGraph, read_folder, surface
from graph_data.build.turtle import turtle
from kgqa.settings import RELATIONS
from kgqa.types import InputError


def built(folder: Path, *files: str) -> SourceGraph:
    for number, text in enumerate(files):
        (folder / f"{number}.txt").write_text(f"domain: domain {number}\n\n{text}", encoding="utf-8")
    return read_folder(folder, RELATIONS)


def facts(graph: SourceGraph) -> set[tuple[str, str, str]]:
    return {(graph.concepts[f.head].name, f.relation, graph.concepts[f.tail].name) for f in graph.facts}


def test_blocks_of_one_concept_are_united(tmp_path: Path) -> None:
    graph = built(
        tmp_path,
        "dig a hole\n  ko: 구멍을 파다\n  HasInstrument: spade\n",
        "dig the hole\n  also: dig out a hole\n  ko: 구멍을 파다\n  HasInstrument: spade *2; shovel\n",
    )
    hole = graph.concepts[0]
    assert (hole.label, hole.domains, hole.ko) == ("dig a hole", ["domain 0", "domain 1"], ["구멍을 파다"])
    assert "dig out a hole" in hole.also
    assert [(f.relation, f.weight) for f in graph.facts] == [("HasInstrument", 2.0), ("HasInstrument", 1.0)]


def test_tails_find_their_concept(tmp_path: Path) -> None:
    graph = built(
        tmp_path,
        "plant flowers\n  ko: 꽃을 심다\n  HasInstrument: hand trowel\n"
        "trowel\n  also: hand trowel\n  ko: 모종삽\n  UsedFor: planting flowers; plant a flower\n",
        "bat (animal)\n  ko: 박쥐\n  CapableOf: fly\n"
        "cave\n  ko: 동굴\n  HasA: bat\n"
        "fly (insect)\n  ko: 파리\n  CapableOf: fly\n",
    )
    assert facts(graph) == {
        ("plant flowers", "HasInstrument", "trowel"),
        ("trowel", "UsedFor", "plant flowers"),
        ("bat (animal)", "CapableOf", "fly"),
        ("cave", "HasA", "bat (animal)"),
        ("fly (insect)", "CapableOf", "fly"),
    }


def test_different_things_stay_apart(tmp_path: Path) -> None:
    graph = built(
        tmp_path,
        "glass\n  ko: 유리\n  HasProperty: tired\n",
        "glasses\n  ko: 안경\n  HasA: tyre; saw; see; clothes; cloth\n",
    )
    assert len(graph.concepts) == 8
    assert surface("The Dog's bowl") == "dog's bowl"


def test_a_kind_that_shares_the_other_name_is_its_own_concept(tmp_path: Path) -> None:
    graph = built(
        tmp_path,
        "bread\n  ko: 빵\n  HasA: knife\n\nkitchen knife\n  also: knife\n  ko: 부엌칼\n  IsA: knife\n",
    )
    assert ("kitchen knife", "IsA", "knife") in facts(graph)
    assert ("bread", "HasA", "knife") in facts(graph)


def test_symmetric_facts_are_stored_once_and_loops_reported(tmp_path: Path) -> None:
    graph = built(
        tmp_path, "hot\n  ko: 뜨겁다\n  Antonym: cold; hot\n\ncold\n  ko: 차갑다\n  Antonym: hot *2\n"
    )
    assert [(f.relation, f.weight) for f in graph.facts] == [("Antonym", 2.0)]
    assert len(graph.dropped) == 1


def test_unusable_places(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no .txt files"):
        read_folder(tmp_path)


def test_blocks_that_share_a_name(tmp_path: Path) -> None:
    graph = built(
        tmp_path,
        "henhouse\n  also: chicken coop\n  ko: 닭장\n  HasA: egg\n"
        "chicken coop\n  also: henhouse\n  ko: 계사\n  HasA: hen\n"
        "fix a watch\n  also: fix a clock\n  ko: 시계를 고치다\n"
        "fix a clock\n  ko: 괘종시계를 고치다\n",
    )
    assert facts(graph) == {
        ("henhouse", "HasA", "egg"),
        ("henhouse", "HasA", "hen"),
        ("fix a watch", "SimilarTo", "fix a clock"),
    }
    assert graph.concepts[0].ko == ["닭장", "계사"] and "chicken coop" in graph.concepts[0].also
    assert not graph.concepts[1].also


def test_a_kind_is_not_distinct_from_what_it_is(tmp_path: Path) -> None:
    graph = built(tmp_path, "spade\n  ko: 삽\n  IsA: shovel\n  DistinctFrom: shovel\n")
    assert facts(graph) == {("spade", "IsA", "shovel")}
    assert len(graph.dropped) == 1


def test_names_in_other_languages_are_labels(tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    (tmp_path / "tools").mkdir()
    (tmp_path / "labels" / "de.tsv").write_text("spade\tSpaten; Grabespaten\n", encoding="utf-8")
    graph = built(tmp_path / "tools", "spade\n  ko: 삽\n  IsA: tool\n")
    lines = turtle(graph)
    assert (
        'rdfs:label "spade"@en, "삽"@ko, "Spaten"@de' in lines and 'skos:altLabel "Grabespaten"@de' in lines
    )
    (tmp_path / "labels" / "ko.tsv").write_text("spade\t삽; 가래\n", encoding="utf-8")
    assert (
        'skos:altLabel "Grabespaten"@de, "가래"@ko'
        in (lines := turtle(built(tmp_path / "tools", "spade\n  ko: 삽\n  IsA: tool\n")))
        or 'skos:altLabel "가래"@ko, "Grabespaten"@de' in lines
    )
    (tmp_path / "labels" / "de.tsv").write_text("spoon\tLöffel\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"de\.tsv: no concept spoon"):
        built(tmp_path / "tools", "spade\n  ko: 삽\n  IsA: tool\n")
