"""Labelled sentences, sentence pairs and tagged words from your own files or published sets."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeGuard

from kgqa.data.datasets.load import DATASETS, find_data_file
from kgqa.data.files import read_json_lines, read_lines
from kgqa.types import InputError

TaskType = Literal["sentence", "pair", "tagging", "ending"]
"""Classify a text; classify two texts; tag each word; choose the right ending of a text."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """An example of a task: `words` and `tags` for tagging, `text` for the other tasks.

    `label` is the name of the class, for endings the number of the right one; "" if unknown.
    """

    text: str = ""
    second: str = ""
    endings: tuple[str, ...] = ()
    label: str = ""
    words: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


def read_labelled(kind: TaskType, spec: str, split: str, data: Path) -> list[Labelled]:
    """The examples of a file, or of a published set's `split` ("train" or "dev").

    Args:
        spec: a name of `LABELLED`, or a file: JSON lines (`text`, `second`, `label`; `tokens`, `tags`; `text`,
            `endings`, `label`), a table with a header (`.csv`, `.tsv`, the same columns), columns
            (`.conll`, `.txt`: first the word, last its tag, a blank line between sentences) or `.conllu` (word and
            universal part of speech); each may be compressed (`.zst`).
    """
    if spec in LABELLED:
        given, read = LABELLED[spec]
        if given != kind:
            raise InputError(f"{spec} is a task of the kind {given!r}, not {kind!r}; set task.kind")
        found = list(read(data, split))
    else:
        path = Path(spec)
        if not path.is_file():
            near = difflib.get_close_matches(spec, LABELLED, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(LABELLED)}"
            raise InputError(f"{spec}: no such file or set; {hint}")
        found = list(_read_file(kind, path))
    if not found:
        raise InputError(f"{spec}: contains no examples")
    return found


def _read_file(kind: TaskType, path: Path) -> Iterator[Labelled]:
    form = path.name.removesuffix(".zst").rpartition(".")[2]
    if form in {"conll", "txt", "conllu"}:
        yield from _columns(path, *((1, 3) if form == "conllu" else (0, -1)))
    elif form in {"csv", "tsv"}:
        rows = csv.DictReader(read_lines(path), delimiter="," if form == "csv" else "\t")
        for row in rows:
            yield as_labelled(kind, row, f"{path}:{rows.line_num}")
    else:
        for number, row in read_json_lines(path):
            yield as_labelled(kind, row, f"{path}:{number}")


def as_labelled(kind: TaskType, row: dict[str, Any], place: str) -> Labelled:
    """An example from a JSON object or a row of a table, whose fields may be in capitals; the label may be missing."""
    row = {str(name).strip().casefold(): value for name, value in row.items()}
    label = "" if row.get("label") is None else str(row["label"])
    if kind == "tagging":
        words, tags = row.get("tokens"), row.get("tags") or ()
        if not _texts(words) or not _texts(tags) or (tags and len(tags) != len(words)):
            raise InputError(f'{place}: write {{"tokens": [...], "tags": [...]}}, a tag for each token')
        return Labelled(words=tuple(words), tags=tuple(tags))
    if not isinstance(row.get("text"), str):
        raise InputError(f'{place}: no "text"; write {{"text": ..., "label": ...}}')
    if kind == "ending":
        endings = row.get("endings")
        if (
            not _texts(endings)
            or len(endings) < 2
            or (label and not (label.isdecimal() and int(label) < len(endings)))
        ):
            raise InputError(
                f'{place}: write {{"text": ..., "endings": [...], "label": 0}}, the right one\'s number'
            )
        return Labelled(row["text"], endings=tuple(endings), label=label)
    second = row.get("second") or ""
    if not isinstance(second, str) or (kind == "pair" and not second):
        raise InputError(f'{place}: no "second"; write {{"text": ..., "second": ..., "label": ...}}')
    return Labelled(row["text"], second, label=label)


def _texts(value: Any) -> TypeGuard[Sequence[str]]:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)


def _columns(path: Path, word: int, tag: int) -> Iterator[Labelled]:
    words: list[str] = []
    tags: list[str] = []
    for number, line in enumerate(read_lines(path), 1):
        cells = line.split("\t") if "\t" in line else line.split()
        cells = [cell.strip() for cell in cells]
        if line.startswith("# ") or (cells and cells[0] == "-DOCSTART-"):
            continue
        if not line.strip():
            if words:
                yield Labelled(words=tuple(words), tags=tuple(tags))
            words, tags = [], []
        elif len(cells) < 2 or len(cells) <= tag:
            raise InputError(f"{path}:{number}: {len(cells)} columns; write a word and its tag")
        # CoNLL-U: skip contractions (their parts follow) and empty words
        elif word == 0 or cells[0].isdigit():
            words.append(cells[word])
            tags.append(cells[tag])
    if words:
        yield Labelled(words=tuple(words), tags=tuple(tags))


Read = Callable[[Path, str], Iterator[Labelled]]


def _cola(cells: list[str]) -> Labelled:
    """Is the sentence acceptable (1) or not (0)? (Warstadt et al., 2019)"""
    return Labelled(cells[3], label=cells[1])


def _sst2(cells: list[str]) -> Labelled:
    """Is the sentiment positive (1) or negative (0)? (Socher et al., 2013)"""
    return Labelled(cells[0].strip(), label=cells[1])


def _rte(cells: list[str]) -> Labelled:
    """Does the first text entail the second (1)? (Dagan et al., 2005 and later)"""
    return Labelled(cells[1], cells[2], label=str(int(cells[3] == "entailment")))


def _glue(
    file: str, count: int, of: Callable[[list[str]], Labelled], heading: int, data: Path, split: str
) -> Iterator[Labelled]:
    """Rows of a table of at least `count` columns, below a header of `heading` lines."""
    path = find_data_file(data, f"glue/{file.format(split)}")
    for number, line in islice(enumerate(read_lines(path), 1), heading, None):
        cells = line.rstrip("\n").split("\t")
        if len(cells) < count:
            raise InputError(f"{path}:{number}: {len(cells)} columns of {count}; fetch the file again")
        yield of(cells)


def _mrpc(data: Path, split: str) -> Iterator[Labelled]:
    """MRPC (Dolan and Brockett, 2005); its test split is the development split, since it has none."""
    path = find_data_file(data, f"nli/mrpc.{'train' if split == 'train' else 'test'}.tsv")
    for number, line in enumerate(read_lines(path), 1):
        cells = line.rstrip("\n").split("\t")
        if number > 1 and len(cells) >= 5:
            yield Labelled(cells[3], cells[4], label=cells[0])


def _entailment(file: str, data: Path, split: str) -> Iterator[Labelled]:
    for row in csv.DictReader(read_lines(find_data_file(data, f"nli/{file}.{split}.csv"))):
        yield Labelled(row["premise"], row["hypothesis"], label=row["label"])


def _trec(data: Path, split: str) -> Iterator[Labelled]:
    """TREC's question types, the six coarse ones (Li and Roth, 2002)."""
    for line in read_lines(
        find_data_file(data, f"heads/trec_qc.{'train' if split == 'train' else 'test'}.label")
    ):
        kind, _, question = line.strip().partition(" ")
        if question:
            yield Labelled(question, label=kind.partition(":")[0])


def _tagged(files: tuple[str, str], word: int, tag: int, data: Path, split: str) -> Iterator[Labelled]:
    for row in _columns(find_data_file(data, f"heads/{files[split != 'train']}"), word, tag):
        yield Labelled(words=tuple(w.removeprefix("en:") for w in row.words), tags=row.tags)


def _chosen(name: str, data: Path, split: str) -> Iterator[Labelled]:
    for example in DATASETS[f"{name}-{split}"](data):
        question = example.question
        text = " ".join(filter(None, (question.passage_text, question.text)))
        yield Labelled(text, endings=question.choices, label=str(example.choice))


LABELLED: dict[str, tuple[TaskType, Read]] = {
    "cola": ("sentence", partial(_glue, "CoLA/in_domain_{}.tsv", 4, _cola, 0)),
    "sst2": ("sentence", partial(_glue, "SST-2/{}.tsv", 2, _sst2, 1)),
    "rte": ("pair", partial(_glue, "RTE/{}.tsv", 4, _rte, 1)),
    "mrpc": ("pair", _mrpc),
    "sick": ("pair", partial(_entailment, "sick")),
    "trec": ("sentence", _trec),
    "wnut17": ("tagging", partial(_tagged, ("wnut17.train.conll", "wnut17.dev.conll"), 0, -1)),
    "wikiann": ("tagging", partial(_tagged, ("wikiann_en.train.txt", "wikiann_en.dev.txt"), 0, -1)),
    "ud-ewt": ("tagging", partial(_tagged, ("ud_ewt.train.rebuilt.conllu", "ud_ewt.dev.conllu"), 1, 3)),
    "ud-ko": ("tagging", partial(_tagged, ("ud_ko_gsd.train.conllu", "ud_ko_gsd.dev.conllu"), 1, 3)),
    "piqa": ("ending", partial(_chosen, "piqa")),
    "csqa": ("ending", partial(_chosen, "csqa")),
    "openbookqa": ("ending", partial(_chosen, "openbookqa")),
}
"""Name -> type of task, and the reader of its files."""
