"""Tables of facts."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from kgqa.graph.formats.source_files import Tally
from kgqa.graph.formats.tsv import is_wordnet, read_conceptnet, read_tsv
from kgqa.graph.storage.import_graph import import_graph
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError, Triple


def rows(path: Path, text: str) -> list[tuple[str, str, str]]:
    path.write_text(text, encoding="utf-8")
    return [(fact.head, fact.relation, fact.tail) for fact in read_tsv(path)]


def test_no_header(tmp_path: Path) -> None:
    text = "ice_cream\tUsedFor\teat\t2.0\nhttp://x/a_b\tIsA\tfood\n\n"
    assert rows(tmp_path / "a.tsv", text) == [
        ("ice cream", "UsedFor", "eat"),
        ("http://x/a_b", "IsA", "food"),
    ]
    stated, unstated = (fact.weight for fact in read_tsv(tmp_path / "a.tsv"))
    assert stated == 2.0 and unstated != unstated


def test_no_header_and_the_head_first(tmp_path: Path) -> None:
    text = "hoe\tused for\tdig\nspade\tused for\tdig\nspade\tis a\ttool\ntrowel\tis a\ttool\n"
    assert rows(tmp_path / "a.tsv", text)[1:3] == [("spade", "used for", "dig"), ("spade", "is a", "tool")]
    for in_doubt in (
        "Oslo\tcapital of\tNorway\nParis\tcapital of\tFrance\n",
        "Ann\tages\t3\nAnn\tis\ta\nBo\tin\tc\n",
    ):
        assert rows(tmp_path / "a.tsv", in_doubt)[0] == tuple(in_doubt.split("\n")[0].split("\t"))
    few_heads = "UsedFor\tspade\tdig\nIsA\tspade\ttool\nIsA\ttool\tthing\nMadeOf\tspade\tsteel\n"
    assert rows(tmp_path / "a.tsv", few_heads)[0] == ("spade", "UsedFor", "dig")
    one_relation = "spade\tis a\ttool\ntool\tis a\tthing\n"
    assert rows(tmp_path / "a.tsv", one_relation)[0] == ("spade", "is a", "tool")
    relation_and_class = (
        "Ann\tsex\tfemale\nAnn\tboss\tBo\nAnn\tteam\tSales\nBo\tteam\tSales\nSales\ttype\tteam\n"
    )
    assert rows(tmp_path / "a.tsv", relation_and_class)[0] == ("Ann", "sex", "female")


def test_header_in_any_order(tmp_path: Path) -> None:
    assert rows(tmp_path / "a.tsv", "\ufeffhead\tnote\trel\ttail\na\tx\tr\tb\n") == [("a", "r", "b")]


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("r\ta\tb\nr\ta\n", "a.tsv:2: 2 column"),
        ("r\ta\tb\tmuch\n", "a.tsv:1:4: weight 'much'"),
        ("r\ta\tb\tnan\n", "is not a number"),
        ("r\t\tb\n", "empty cell"),
    ],
)
def test_broken(tmp_path: Path, text: str, output: str) -> None:
    with pytest.raises(InputError, match=output):
        rows(tmp_path / "a.tsv", text)


def test_wrong_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(b"r\ta\tb\nr\tcaf\xe9\tb\n")
    with pytest.raises(InputError, match="not UTF-8"):
        list(read_tsv(tmp_path / "a.tsv"))


# ConceptNet's assertion dump.


LINES = (
    '/a/[/r/UsedFor/,/c/en/trowel/n/,/c/en/dig/]\t/r/UsedFor\t/c/en/trowel/n\t/c/en/dig\t{"weight": 2.5}\n'
    '/a/[/r/Synonym/,/c/fr/x/,/c/en/y/]\t/r/Synonym\t/c/fr/x\t/c/en/y\t{"weight": 1.0}\n'
    '/a/[/r/ExternalURL/]\t/r/ExternalURL\t/c/en/x\t/c/en/y\t{"weight": 1.0}\n'
)


def test_language_filter(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(LINES.encode()))
    tally = Tally()
    (fact,) = read_conceptnet(tmp_path / "a.csv.gz", tally)
    assert fact == Triple("/c/en/trowel", "/r/UsedFor", "/c/en/dig", 2.5)
    assert sum(tally.skipped.values()) == 2
    assert len(list(read_conceptnet(tmp_path / "a.csv.gz", tally, ()))) == 2


@pytest.mark.parametrize("line", ["nonsense\n", "/a/[]\t/r/IsA\t/c/en/a\t/c/en/b\tnot json\n"])
def test_broken_conceptnet(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.csv").write_text(LINES + line)
    with pytest.raises(InputError, match=r"a\.csv:4"):
        list(read_conceptnet(tmp_path / "a.csv", Tally()))


# WordNet's database files.


NOUNS = (
    "  1 This software and database is being provided to you\n"
    "00000100 06 n 02 garden_trowel 0 trowel 0 002 @ 00000200 n 0000 ~ 00000300 n 0000 | a small spade\n"
    "00000200 06 n 01 hand_tool 0 000 | a tool used with the hand\n"
)
VERBS = (
    "00000300 35 v 01 dig 0 001 @ 00000400 v 0000 01 + 08 00 | turn up\n"
    "00000400 35 v 01 turn 0 000 00 | move\n"
)


def archive(path: Path, nouns: str = NOUNS) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, text in (("dict/data.noun", nouns), ("dict/data.verb", VERBS), ("dict/index.noun", "x")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return path


def test_archive(tmp_path: Path) -> None:
    path = archive(tmp_path / "wn3.1.dict.tar.gz")
    assert is_wordnet(path) and not is_wordnet(tmp_path / "a.nt.gz")
    manifest = import_graph([path], tmp_path / "g")
    assert (manifest["edges"], manifest["skipped"]) == (2, {"inverse or usage pointer": 1})
    graph = GraphStore.open(tmp_path / "g")
    assert graph.labels(graph.find(["trowel", "dig"])[0]) == ["garden trowel"]
    assert [relation.name for relation in graph.relations] == ["IsA", "MannerOf"]


def test_broken_wordnet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"data\.noun:1: not a WordNet synset"):
        import_graph([archive(tmp_path / "a.tar.gz", "nonsense\n")], tmp_path / "g")
    (tmp_path / "b.tar.gz").write_bytes(b"no archive")
    with pytest.raises(InputError, match="damaged"):
        import_graph([tmp_path / "b.tar.gz"], tmp_path / "g")
