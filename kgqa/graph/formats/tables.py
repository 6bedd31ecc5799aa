"""Tables (CSV, spreadsheets; pandas and Arrow), networkx and rdflib graphs and triples in memory, to facts."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from kgqa.graph.formats.rdf import MAX_TEXT, RdfReader, parse_rdf
from kgqa.graph.formats.source_files import UNSTATED, Batch, Tally, batches, numbered_lines
from kgqa.graph.formats.tsv import columns_named, fact_of
from kgqa.graph.formats.vocabulary import RDF
from kgqa.graph.linking.label_keys import BOOLEAN, XSD, literal_name
from kgqa.graph.linking.normalize import STOP_WORDS, lemma, split_words
from kgqa.types import InputError, Label, Triple

_TRUTHS = {spelt: truth for truth in ("true", "false") for spelt in (truth, truth.title(), truth.upper())}
_TRUTHS |= {
    spelt: truth for word, truth in (("yes", "true"), ("no", "false")) for spelt in (word, word.title())
}
_SEPARATORS = ",;\t|"
_SEVERAL = ";"
_LIST = re.compile(r"\s*(?:[,/&\n]|\band\b)\s*")
"""What may separate a list's items, beside `_SEVERAL`."""
_NOUN = re.compile(r"[^\W\d_A-Z][^\W\d_]*(?:[ '’-][^\W\d_]+){0,2}")
_NOTHING = frozenset({"", "n/a", "nan", "null", "none"})
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*|[1-9]\d{0,2}(,\d{3})+)(\.\d+)?([eE][+-]?\d+)?")
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?")
_DAY = re.compile(r"(\d{1,2})([./])(\d{1,2})\2(\d{4})")
_REFERENCE = re.compile(r"(?<=[\w)])[ _]?(?:(?<=[ _])id|ID|Id)$")
_LABEL_COLUMNS = ("name", "full name", "label", "title")
"""Headers of label columns, for tables whose rows are identified by numbers or codes."""
_Row = tuple[int, Sequence[Any]]


class _Table(NamedTuple):
    """A table with one entity per row."""

    kind: str
    """The class of its entities; may be empty."""
    columns: Sequence[str]
    rows: Sequence[_Row]
    """Line numbers and cells."""
    place: int
    """The column with the names of its entities."""

    @property
    def noun(self) -> str:
        """What stands before an entity's number: its class, else the header of the names: "order 3"."""
        return self.kind or _relation(self.columns[self.place])

    @property
    def label_place(self) -> int:
        """The column with the labels of entities that are identified by numbers or codes; -1 for none."""
        own = [row[self.place] for _, row in self.rows if self.place < len(row)]
        is_key = all(map(_is_number, own)) or _REFERENCE.search(f"a {self.columns[self.place]}") is not None
        headers = [name.lower() if n != self.place else "" for n, name in enumerate(self.columns)]
        return next((headers.index(name) for name in _LABEL_COLUMNS if is_key and name in headers), -1)

    def heads(self) -> dict[int, str]:
        """The entity of each row, by line; empty if it has no name."""
        return {n: _name(row[self.place], self.noun) for n, row in self.rows if self.place < len(row)}

    def names(self) -> Iterator[tuple[str, str]]:
        """The names of the entities, and their labels that no other has, each with the entity."""
        heads, place = self.heads(), self.label_place
        labels = [(_name(row[place], ""), heads.get(n, "")) for n, row in self.rows if 0 <= place < len(row)]
        often = Counter(label.casefold() for label, _ in labels)
        yield from (
            (label, head) for label, head in labels if label and head and often[label.casefold()] == 1
        )
        yield from ((head, head) for head in heads.values() if head)


def read_csv(
    path: Path, tally: Tally, identifier: str = "", others: Iterable[tuple[str, str]] = ()
) -> Iterator[Triple | Label]:
    """Facts of a CSV file with a header and the separator comma, semicolon, tab or bar: one fact per row if the header
    has head, relation and tail, else one entity per row (`_facts_of`). `others` are `names_in_table` of other tables.
    """
    header, rows = _csv_rows(path)
    if places := columns_named(header):
        yield from (fact_of(path, number, row, places) for number, row in rows)
        return
    yield from _facts_of([_csv_table(path, header, rows, identifier)], tally, others)


def read_workbook(
    path: Path, tally: Tally, identifier: str = "", others: Iterable[tuple[str, str]] = ()
) -> Iterator[Triple | Label]:
    """Facts of all sheets of an Excel workbook, each a table with one entity per row (`_facts_of`)."""
    yield from _facts_of(_sheets(path, identifier), tally, others)


def names_in_table(path: Path, identifier: str = "") -> list[tuple[str, str]]:
    """The names and labels of the entities that the rows of a CSV file or of a workbook's sheets are about, each with
    the entity; none for one fact per row."""
    if path.suffix.lower() == ".xlsx":
        tables = _sheets(path, identifier)
    else:
        header, rows = _csv_rows(path)
        tables = [] if columns_named(header) else [_csv_table(path, header, rows, identifier)]
    return [name for table in tables for name in table.names()]


def _csv_rows(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    lines = (line for _, line in numbered_lines(path, "utf-8-sig"))
    first = next(lines, "")
    separator = max(_SEPARATORS, key=first.count)
    reader = csv.reader(chain([first], lines), delimiter=separator, skipinitialspace=True)
    try:
        return next(reader, []), [(reader.line_num, row) for row in reader if any(map(str.strip, row))]
    except csv.Error as error:
        raise InputError(f"{path}: not CSV here ({error}); correct the file") from None


def _csv_table(path: Path, header: Sequence[str], rows: Sequence[_Row], identifier: str) -> _Table:
    return _table_of(str(path), table_class(path.name.split(".")[0]), header, rows, identifier)


def _sheets(path: Path, identifier: str) -> list[_Table]:
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise InputError(
            f"{path}: reading workbooks needs openpyxl, which is not installed; "
            "pip install 'kgqa[tables]', or save the sheet as CSV"
        ) from None
    try:
        book = load_workbook(path, read_only=True, data_only=True)
        sheets = [(sheet.title, list(sheet.iter_rows(values_only=True))) for sheet in book.worksheets]
    except Exception as error:  # damaged files raise many types
        raise InputError(f"{path}: not an Excel workbook ({error!s:.100}); save it again as .xlsx") from None
    filled = [(title, rows) for title, rows in sheets if len(rows) > 1]
    found = []
    for title, (header, *body) in filled:
        kind = path.name.split(".")[0] if len(filled) == 1 else title
        rows = [(number, row) for number, row in enumerate(body, 2) if any(cell is not None for cell in row)]
        named = identifier if identifier in map(str, header) else ""
        found.append(_table_of(f"{path}:{title}", table_class(kind), header, rows, named))
    return found


def _table_of(
    where: str, kind: str, header: Sequence[Any], rows: Sequence[_Row], identifier: str = ""
) -> _Table:
    """A table of a `header` and rows with their line numbers; the column `identifier`, by default the first, names the
    entity of each row, an instance of the class `kind` if it is given."""
    names = [" ".join(str(cell if cell is not None else "").split()) for cell in header]
    if identifier and identifier not in names:
        raise InputError(
            f"{where}: no column {identifier!r}; its columns are {', '.join(filter(None, names))}"
        )
    if not rows or len([name for name in names if name]) < 2:
        raise InputError(f"{where}: a table needs a header with at least two columns, and a row below it")
    for number, row in rows:
        if any(str(cell).strip() for cell in row[len(names) :] if cell is not None):
            raise InputError(
                f"{where}:{number}: {len(row)} cells under {len(names)} headers; correct the row"
            )
    place = names.index(identifier) if identifier else 0
    return _Table(kind, names, rows, place)


def _facts_of(
    tables: Sequence[_Table], tally: Tally, others: Iterable[tuple[str, str]] = ()
) -> Iterator[Triple | Label]:
    """Facts of tables.

    A row is about the entity that one column names. The other headers are relations; several values are separated by
    `;`, or written as a list (`_lists`). Numbers and dates are values. A text is an entity if it is the name or label
    of a row of any of the tables, or one of `others`, or occurs several times in its column, and so is a number in a
    column `..._id`.
    """
    known = {name.casefold(): head for name, head in chain(others, *(table.names() for table in tables))}
    for table in tables:
        yield from _facts_of_table(table, tally, known)


def _with_lists(rows: Sequence[_Row], known: Collection[str], *but: int) -> list[_Row]:
    """Rows with the lists in their cells separated by `_SEVERAL`, except in the columns `but`; `known` are entities in
    lower case."""
    columns = zip_longest(*(row for _, row in rows))
    listed = (cells if n in but else _lists(cells, known) for n, cells in enumerate(columns))
    return [(number, row) for (number, _), row in zip(rows, zip(*listed, strict=True), strict=True)]


def _lists(cells: Sequence[Any], known: Collection[str]) -> list[Any]:
    """The cells of a column with their lists separated by `_SEVERAL`: "Ann Oak and Bo" if both, or most in all lists,
    are entities or cells of the column; "flute, bass clarinet" if all between commas are short nouns in lower case."""
    texts = {cell for cell in cells if isinstance(cell, str) and cell.casefold() not in known}
    names = {*known, *(text.casefold() for text in texts if not _LIST.search(text))}
    lists = {text: [part for part in _LIST.split(text) if part] for text in texts if _LIST.search(text)}
    parts = [part for text in lists if "," in text for part in lists[text]]
    are_lists = all(map(_is_noun, parts)) or sum(p.casefold() in names for p in parts) > 2 / 3 * len(parts)
    for text, items in lists.items():
        if not (are_lists and "," in text) and not names.issuperset(map(str.casefold, items)):
            lists[text] = [text]
    return [_SEVERAL.join(lists.get(cell, [cell])) if isinstance(cell, str) else cell for cell in cells]


def _is_noun(text: str) -> bool:
    return _NOUN.fullmatch(text) is not None and STOP_WORDS.isdisjoint(text.split())


def _facts_of_table(table: _Table, tally: Tally, known: Mapping[str, str]) -> Iterator[Triple | Label]:
    names, place, heads = table.columns, table.place, table.heads()
    label_place = table.label_place
    rows = _with_lists(table.rows, known, place, label_place)
    things = {**_repeated(rows, place, label_place), **known}
    relations = [_relation(name) for name in names]
    day_first = [_day_first(row[n] for _, row in rows if n < len(row)) for n in range(len(names))]
    for number, row in rows:
        head = heads.get(number, "")
        if not head:
            tally.skipped["row without a name"] += 1
            continue
        if table.kind:
            yield Triple(head, f"{RDF}type", table.kind)
        for n, cell in enumerate(row[: len(names)]):
            if n == place or not names[n]:
                continue
            if n == label_place and _values(cell):
                yield Label(head, " ".join(str(cell).split()))
                continue
            # "customer_id" refers to a row of the customers, "manager_id" to one of the same table
            nouns = (table_class(relations[n]), table.noun) if _REFERENCE.search(names[n]) else ("",)
            for value in _values(cell):
                called = (things.get(_name(value, noun).casefold()) for noun in nouns)
                tail = next(filter(None, called), "") or _literal(value, day_first[n])
                if tail:
                    yield Triple(head, relations[n], tail)
                else:
                    tally.skipped[f"text of over {MAX_TEXT} characters"] += 1


def table_class(title: str) -> str:
    """Class of the entities in a table, from its name in the singular.

    >>> table_class("people"), table_class("hr_employees-2024"), table_class("Sheet1")
    ('person', 'hr employee', '')
    """
    title_words = [word for word in split_words(title).lower().split() if word.isalpha()]
    if not title_words or title_words == ["sheet"] or re.fullmatch(r"(sheet|table)\d*", title.lower()):
        return ""
    return " ".join([*title_words[:-1], "person" if title_words[-1] == "people" else lemma(title_words[-1])])


def kind_of_header(header: str) -> str:
    """What the things of a table without a title are, by the header of their column.

    >>> kind_of_header("oven"), kind_of_header("boat_id"), kind_of_header("name")
    ('oven', 'boat', '')
    """
    noun = _relation(header)
    return "" if noun.lower() in (*_LABEL_COLUMNS, "id", "index") else table_class(noun)


def cell_name(value: Any) -> str:
    """Name of a cell's content: a text as it is; a number, date or Boolean as a typed literal.

    >>> cell_name(3), cell_name("Ilse"), cell_name(None)
    ('"3"^^<http://www.w3.org/2001/XMLSchema#integer>', 'Ilse', '')
    """
    value = value.item() if hasattr(value, "item") else value  # of numpy
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return literal_name(str(value).lower(), datatype=BOOLEAN)
    if isinstance(value, int | float):
        whole = float(value).is_integer()
        return literal_name(
            str(int(value) if whole else value), datatype=XSD + ("integer" if whole else "decimal")
        )
    if isinstance(value, datetime):
        if (value.hour, value.minute, value.second) != (0, 0, 0):
            return literal_name(value.isoformat(timespec="seconds"), datatype=f"{XSD}dateTime")
        value = value.date()
    if isinstance(value, date):
        return literal_name(value.isoformat(), datatype=f"{XSD}date")
    return " ".join(str(value).split())


def _is_number(cell: Any) -> bool:
    return (isinstance(cell, int | float) and cell == cell) or (
        isinstance(cell, str) and _NUMBER.fullmatch(cell.strip()) is not None
    )


def _name(cell: Any, kind: str) -> str:
    """The label of an entity; a plain number is preceded by its class."""
    if _is_number(cell):
        number = str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()
        return f"{kind} {number}" if kind else ""
    return "" if cell is None else " ".join(str(cell).split()).strip('"')


def _values(cell: Any) -> list[Any]:
    if not isinstance(cell, str):
        return [cell] if cell is not None and cell == cell else []
    return [text for part in cell.split(_SEVERAL) if (text := " ".join(part.split())).lower() not in _NOTHING]


def _repeated(rows: Sequence[_Row], *but: int) -> dict[str, str]:
    """Texts that occur several times in a column, and so denote entities: a department, a town."""
    found: dict[str, str] = {}
    for n in range(max(len(row) for _, row in rows)):
        if n not in but:
            texts = [v for _, row in rows if n < len(row) for v in _values(row[n]) if isinstance(v, str)]
            known = Counter(map(str.casefold, texts))
            found |= {
                text.casefold(): text
                for text in texts
                if known[text.casefold()] > 1 and len(text) <= MAX_TEXT and not _literal_type(text, None)
            }
    return found


def _relation(header: str) -> str:
    return re.sub(r"[/#:!?]+", " ", _REFERENCE.sub("", header)).rstrip()


def _day_first(cells: Iterable[Any]) -> bool | None:
    """Whether dates in a column have the day before the month; None if they are ambiguous."""
    found = [match for cell in cells if isinstance(cell, str) and (match := _DAY.fullmatch(cell.strip()))]
    if any(match[2] == "." or int(match[1]) > 12 for match in found):
        return True
    return False if any(int(match[3]) > 12 for match in found) else None


def _literal_type(text: str, day_first: bool | None) -> tuple[str, str] | None:
    """A text as a value with its datatype; None for plain text."""
    if _NUMBER.fullmatch(text):
        plain = text.replace(",", "")
        return plain, XSD + ("decimal" if "." in plain or "e" in plain.lower() else "integer")
    if text in _TRUTHS:
        return _TRUTHS[text], BOOLEAN
    if _ISO.fullmatch(text):
        return text.replace(" ", "T"), XSD + ("date" if len(text) == 10 else "dateTime")
    if day_first is not None and (match := _DAY.fullmatch(text)):
        day, month = (match[1], match[3]) if day_first else (match[3], match[1])
        return f"{match[4]}-{int(month):02}-{int(day):02}", f"{XSD}date"
    return None


def _literal(value: Any, day_first: bool | None) -> str:
    """Name of a cell's value; "" for a text that is too long to be an answer."""
    if not isinstance(value, str):
        return cell_name(value)
    if typed := _literal_type(value, day_first):
        return literal_name(typed[0], datatype=typed[1])
    return literal_name(value) if len(value) <= MAX_TEXT else ""


# Graphs in memory: rdflib and networkx graphs, pandas and Arrow tables, iterables of triples. None of these libraries
# is imported here: a caller that has such an object has imported it.

OWN_ATTRIBUTES = {"label", "role", "score"}
"""Attributes of the nodes that `Subgraph.to_networkx` writes."""
TAKEN = (
    "a shipped name, a file, a folder or a SPARQL URL, or an rdflib Graph, a directed networkx graph, "
    "a table of pandas or Arrow, or triples"
)


def read_object(graph: Any, tally: Tally) -> Iterator[Batch]:
    """Facts and labels of a graph in memory.

    A table with columns head, relation and tail (or subject, predicate and object), or with three or four unnamed
    columns, holds one fact per row. Any other table holds one entity per row; its class is named by the first column.
    """
    match _library(graph):
        case "rdflib" if hasattr(graph, "serialize"):
            form = "nquads" if hasattr(graph, "quads") else "nt"
            content = graph.serialize(format=form, encoding="utf-8")
            yield from RdfReader(tally, "").quads(parse_rdf(Path("graph.nq"), "N-Quads", content))
        case "networkx" if graph.is_directed():
            yield from batches(_network(graph))
        case "pandas" if hasattr(graph, "itertuples"):
            named = graph.reset_index() if any(name is not None for name in graph.index.names) else graph
            yield from batches(_table(list(named.columns), named.itertuples(index=False, name=None), tally))
        case "pyarrow" if hasattr(graph, "column_names"):
            rows = zip(*(column.to_pylist() for column in graph.columns), strict=True)
            yield from batches(_table(graph.column_names, rows, tally))
        case "networkx" | "rdflib" | "pandas" | "pyarrow":
            raise InputError(f"{type(graph).__name__}: neither a directed graph nor a table; pass {TAKEN}")
        case _ if isinstance(graph, Iterable) and not isinstance(graph, str | bytes | Mapping):
            yield from batches(_triples(graph))
        case _:
            raise InputError(f"the graph is of type {type(graph).__name__}; pass {TAKEN}")


def _library(graph: Any) -> str:
    known = {"rdflib", "networkx", "pandas", "pyarrow"}
    origins = (base.__module__.partition(".")[0] for base in type(graph).__mro__)
    return next((name for name in origins if name in known), "")


def _network(graph: Any) -> Iterator[Triple | Label]:
    """Facts of a networkx graph: edges, whose relation is the attribute `relation`, `label` or `type`, else the key,
    and the attributes of nodes; a node's `label` is its label."""
    for node, about in graph.nodes(data=True):
        if about.get("label"):
            yield Label(_term_name(node), str(about["label"]))
        for attribute, values in about.items() if about.keys() != OWN_ATTRIBUTES else ():
            for value in values if isinstance(values, list | tuple | set) else [values]:
                if attribute != "label" and (tail := _term_name(value)):
                    yield Triple(_term_name(node), str(attribute), tail, UNSTATED)
    edges = graph.edges(keys=True, data=True) if graph.is_multigraph() else graph.edges(data=True)
    for head, tail, *key, about in edges:
        own = key[0] if key and isinstance(key[0], str) else ""
        relation = about.get("relation") or about.get("label") or own or about.get("type")
        if not relation:
            raise InputError(
                f"edge {head!r} to {tail!r}: no relation; give it as the edge's attribute `relation` or as its key"
            )
        # as `Subgraph.to_networkx` writes it: the key is the name, the attribute the label
        if own and own != relation and "relation" not in about:
            yield Label(own, str(relation))
            relation = own
        yield Triple(_term_name(head), str(relation), _term_name(tail), float(about.get("weight", UNSTATED)))


def _table(columns: list[Any], rows: Iterable[tuple[Any, ...]], tally: Tally) -> Iterator[Triple | Label]:
    names = [str(column) for column in columns]
    places = columns_named(names)
    if places is None and (len(names) not in (3, 4) or any(isinstance(column, str) for column in columns)):
        table = _table_of("table", kind_of_header(names[0]), names, list(enumerate(rows, 1)))
        yield from _facts_of([table], tally)
        return
    places = places or {"head": 0, "relation": 1, "tail": 2}
    weighed = places.get("weight", -1)
    for row in rows:
        head, relation, tail = (_term_name(row[places[name]]) for name in ("head", "relation", "tail"))
        if head and relation and tail:
            yield Triple(head, relation, tail, float(row[weighed]) if weighed >= 0 else UNSTATED)
        else:
            tally.skipped["row with an empty cell"] += 1


def _triples(graph: Iterable[Any]) -> Iterator[Triple]:
    for number, fact in enumerate(graph, 1):
        if isinstance(fact, Triple):
            yield fact
            continue
        fact = fact.tolist() if hasattr(fact, "tolist") else fact  # of numpy
        parts = fact if isinstance(fact, tuple | list) and len(fact) == 3 else ()
        names = [_term_name(part) for part in parts]
        if not names or not all(names):
            raise InputError(f"triple {number}: {fact!r:.60} is not a triple; write (head, relation, tail)")
        yield Triple(names[0], names[1], names[2], UNSTATED)


def _term_name(value: Any) -> str:
    """Name of a term: an rdflib term, a number, a date or a text."""
    if _library(value) != "rdflib":
        return cell_name(value)
    if hasattr(value, "datatype"):
        return literal_name(str(value), value.language or "", str(value.datatype or ""))
    return str(value.n3()) if value.n3().startswith("_:") else str(value)
