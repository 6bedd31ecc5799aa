from pathlib import Path

import pytest

from kgqa.data.datasets.labelled import LABELLED, Labelled, as_labelled, read_labelled
from kgqa.types import InputError


def test_one_form_of_file_after_another(tmp_path: Path) -> None:
    files = {
        "a.jsonl": '{"text": "good", "label": 1}\n',
        "a.csv": "text,label\ngood,1\n",
        "a.tsv": "label\ttext\n1\tgood\n",
        "b.csv": "Text, LABEL\ngood,1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        assert read_labelled("sentence", str(tmp_path / name), "train", tmp_path) == [
            Labelled("good", label="1")
        ]
    (tmp_path / "b.conll").write_text("-DOCSTART- O\n\nJohn NNP B-PER\nsleeps VBZ O\n\nHere RB O\n")
    rows = read_labelled("tagging", str(tmp_path / "b.conll"), "train", tmp_path)
    assert [(row.words, row.tags) for row in rows] == [
        (("John", "sleeps"), ("B-PER", "O")),
        (("Here",), ("O",)),
    ]
    contracted = "# text = im Haus\n1-2\tim\t_\t_\n1\tin\tin\tADP\n2\tdem\tder\tDET\n2.1\tx\tx\tX\n\n"
    (tmp_path / "c.conllu").write_text(contracted)
    (row,) = read_labelled("tagging", str(tmp_path / "c.conllu"), "train", tmp_path)
    assert row.words == ("in", "dem") and row.tags == ("ADP", "DET")


@pytest.mark.parametrize(
    ("kind", "row", "message"),
    [
        ("sentence", {"label": 1}, 'no "text"'),
        ("pair", {"text": "a"}, 'no "second"'),
        ("tagging", {"tokens": ["a"], "tags": ["b", "c"]}, "a tag for each"),
        ("ending", {"text": "a", "endings": ["b"]}, "endings"),
        ("ending", {"text": "a", "endings": ["b", "c"], "label": 2}, "endings"),
    ],
)
def test_what_is_missing_is_said(kind, row, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=message):
        as_labelled(kind, row, "x:1")


def test_names_and_kinds(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean cola"):
        read_labelled("sentence", "colla", "train", tmp_path)
    with pytest.raises(InputError, match="of the kind 'pair'"):
        read_labelled("sentence", "rte", "train", tmp_path)


FILES = {
    "cola": ("CoLA/in_domain_{}.tsv", "gj04\t1\t\tThey dig.\nbc01\t0\t*\tThey digs the.\n"),
    "sst2": ("SST-2/{}.tsv", "sentence\tlabel\na fine spade \t1\na dull film \t0\n"),
    "rte": (
        "RTE/{}.tsv",
        "index\ta\tb\tlabel\n0\tA dug.\tB dug.\tentailment\n1\tA dug.\tC.\tnot_entailment\n",
    ),
}
FIRST = {
    "cola": Labelled("They dig.", label="1"),
    "sst2": Labelled("a fine spade", label="1"),
    "rte": Labelled("A dug.", "B dug.", label="1"),
}


@pytest.mark.parametrize("task", sorted(FILES))
@pytest.mark.parametrize("split", ["train", "dev"])
def test_glue_files(task: str, split: str, tmp_path: Path) -> None:
    name, text = FILES[task]
    path = tmp_path / "glue" / name.format(split)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    rows = list(LABELLED[task][1](tmp_path, split))
    assert len(rows) == 2 and rows[0] == FIRST[task] and rows[1].label == "0"


def test_a_short_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "glue" / "CoLA" / "in_domain_dev.tsv"
    path.parent.mkdir(parents=True)
    path.write_text("gj04\t1\t\tThey dig.\nbroken\n")
    with pytest.raises(InputError, match="in_domain_dev.tsv:2: 1 columns of 4"):
        list(LABELLED["cola"][1](tmp_path, "dev"))
