"""What is alike is found: things written twice, pairs that nothing tells apart, weights out of order."""

from __future__ import annotations

from pathlib import Path

from kgqa.assets import GRAPHS
from kgqa.graph.authoring.compiling import SourceGraph, read_folder
from kgqa.graph.authoring.contrasts import near_duplicates, not_told_apart, out_of_order
from kgqa.graph.authoring.quality import examine
from kgqa.graph.authoring.tables import Order


def built(folder: Path, text: str) -> SourceGraph:
    (folder / "a.txt").write_text(f"domain: test\n{text}", encoding="utf-8")
    return read_folder(folder, GRAPHS / "relations.toml")


def test_what_is_alike(tmp_path: Path) -> None:
    graph = built(
        tmp_path,
        "call a friend\n  ko: 친구에게 전화하다\n  type: action\n  HasAgent: child\n"
        "call your friends\n  ko: 친구들에게 전화하다\n  type: action\n  HasInstrument: phone\n"
        "stop a flood\n  ko: 홍수를 막다\n  type: action\n  HasInstrument: dam\n"
        "keep out the flood\n  ko: 홍수를 막다\n  type: action\n  HasInstrument: sandbag\n"
        "build a dam\n  ko: 홍수를 막다\n  type: action\n  HasAgent: beaver\n"
        "wash\n  ko: 씻다\n  type: action\n  HasInstrument: soap\n"
        "rose\n  ko: 장미\n  type: plant\n  HasA: thorn\n"
        "red rose\n  ko: 장미\n  type: plant\n  IsA: rose\n",
    )
    assert near_duplicates(graph) == [
        "call a friend / call your friends",
        "stop a flood / keep out the flood",
    ]
    assert near_duplicates(graph) == examine(graph).faults["one thing, two concepts"]


def test_pairs_that_nothing_tells_apart(tmp_path: Path) -> None:
    text = "viola\n  IsA: instrument\n  DistinctFrom: cello\ncello\n  IsA: instrument\n  HasProperty: big\n"
    assert [line.split("  (")[0] for line in not_told_apart(built(tmp_path, text))] == ["viola / cello"]
    assert not not_told_apart(built(tmp_path, f"{text}viola\n  AtLocation: string quartet\n"))


def test_typicality_is_tested_by_order(tmp_path: Path) -> None:
    graph = built(tmp_path, "dig\n  HasInstrument: shovel *2; excavator\n")
    kept = Order("dig", "HasInstrument", ("shovel", "excavator", "spoon"))
    turned = Order("dig", "HasInstrument", ("excavator", "shovel"))
    graph.orders = [kept, turned, Order("swim", "HasInstrument", ("fin",))]
    assert out_of_order(graph) == [
        "dig HasInstrument: excavator 1, shovel 2",
        "swim HasInstrument: fin 0",
    ]
    assert "typicality out of order: 2" in examine(graph).text()
