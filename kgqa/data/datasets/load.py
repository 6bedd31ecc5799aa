"""Questions with answers by name or path: published data sets, each in its authors' own file format, or your own."""

from __future__ import annotations

import csv
import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from types import FunctionType
from typing import Any

from kgqa.data.datasets.json_lines import NOBODY_KNOWS, example_of, read_examples, read_table, spans_at
from kgqa.data.files import read_json_lines, read_lines, read_text
from kgqa.plugins import imported
from kgqa.settings import data_folder
from kgqa.types import Example, InputError, Passage, Question, Span

# Published commonsense sets, row by row: multiple choice, and statements that are true or false.

Row = dict[str, Any]


def social(number: int, row: Row) -> Example:
    """Social IQa (Sap et al., 2019); some splits give the right answer as a number, others as a letter."""
    choices = (row["answerA"], row["answerB"], row["answerC"])
    question = Question(row["question"], choices, Passage(row["context"]), str(number))
    return Example(question, choice=row["label"] if "label" in row else "ABC".index(row["correct"]))


def winogrande(_number: int, row: Row) -> Example:
    """WinoGrande (Sakaguchi et al., 2020): who or what fills the blank."""
    question = Question(row["sentence"], (row["option1"], row["option2"]), None, row["qID"])
    return Example(question, choice=int(row["answer"]) - 1)


def e_care(_number: int, row: Row) -> Example:
    """e-CARE (Du et al., 2022): the more plausible of two causes, or of two effects."""
    asked = {"cause": "What was the cause of this?", "effect": "What happened as a result?"}
    choices = (row["hypothesis1"], row["hypothesis2"])
    question = Question(asked[row["ask-for"]], choices, Passage(row["premise"]), row["index"])
    return Example(question, choice=row["label"])


def comve_sense(number: int, row: Row) -> Example | None:
    """ComVE, first task (Wang et al., 2020): which of two statements makes sense."""
    sense, nonsense = row["Correct Statement"].strip(), row["Incorrect Statement"].strip()
    if not (sense and nonsense):
        return None
    second = number % 2  # the right one is the first and the second in turn, so that its place says nothing
    choices = (nonsense, sense) if second else (sense, nonsense)
    return Example(Question("Which of these makes sense?", choices, None, str(number)), choice=second)


def comve_reasons(number: int, row: Row) -> Example | None:
    """ComVE, second task: why a statement makes no sense."""
    named = ("Right Reason1", "Confusing Reason1", "Confusing Reason2")
    right, *wrong = reasons = [row[name].strip() for name in named]
    statement, place = row["Incorrect Statement"].strip(), number % 3
    if not (statement and all(reasons)):
        return None
    choices = (*wrong[:place], right, *wrong[place:])
    question = Question("Why does this make no sense?", choices, Passage(statement), str(number))
    return Example(question, choice=place)


def csqa2(_number: int, row: Row) -> Example:
    """CommonsenseQA 2.0 (Talmor et al., 2021): statements and questions, true or not."""
    return Example(Question(row["question"], (), None, row["id"]), yes_no_label=row["answer"] == "yes")


def creak(_number: int, row: Row) -> Example:
    """CREAK (Onoe et al., 2021): claims about named entities, true or false."""
    return Example(Question(row["sentence"], (), None, row["ex_id"]), yes_no_label=row["label"] == "true")


def strategy(_number: int, row: Row) -> Example:
    """StrategyQA (Geva et al., 2021): yes/no questions that need implicit facts."""
    return Example(Question(row["question"], (), None, row["qid"]), yes_no_label=bool(row["answer"]))


def inference(number: int, row: Row) -> Example | None:
    """SNLI and MultiNLI (Bowman et al., 2015; Williams et al., 2018): entailment is yes, contradiction no, and neutral
    has no answer."""
    labels = {"entailment": True, "contradiction": False, "neutral": None}
    claim, premise = row["hypothesis"].strip(), row["premise"].strip()
    if row["label"] not in labels or not (claim and premise):
        return None
    return Example(Question(claim, (), Passage(premise), str(number)), yes_no_label=labels[row["label"]])


def boolq_unanswerable(number: int, row: Row) -> Example | None:
    """BoolQ's questions with a passage about something else (Sulem et al., 2022)."""
    if row["answer"] != "no-answer":
        return None
    text = row["question"].strip().rstrip("?") + "?"
    return Example(Question(text, (), Passage(row["passage"]), str(number)))


# KoBEST (Jang et al., 2022): Korean questions and statements written by native speakers, row by row.

ASKED = {"원인": "이 일의 원인은 무엇인가?", "결과": "그 결과 무슨 일이 일어났는가?"}
"""COPA's question types as full questions."""
NEXT = "다음에 이어질 말로 알맞은 것은 무엇인가?"


def kobest_boolq(_number: int, row: dict[str, Any]) -> Example:
    """A statement that is true or false by its paragraph."""
    label = {"TRUE": True, "FALSE": False}[row["Answer"].strip().upper()]
    return Example(Question(row["Question"], (), Passage(row["Text"]), row["ID"]), yes_no_label=label)


def kobest_copa(_number: int, row: dict[str, Any]) -> Example | None:
    """The more plausible of two causes, or of two effects; a row that asks for neither is left out."""
    asked = ASKED.get(row["question"].strip())
    if asked is None:
        return None
    question = Question(asked, (row["1"], row["2"]), Passage(row["sentence"]), row["ID"])
    return Example(question, choice=int(row["Answer"]) - 1)


def kobest_hellaswag(number: int, row: dict[str, Any]) -> Example:
    """HellaSwag: the continuation of a text."""
    choices = tuple(row[f"choice{place}"] for place in range(1, 5))
    return Example(Question(NEXT, choices, Passage(row["context"]), str(number)), choice=int(row["label"]))


# Published question sets, each in its authors' own file format, listed in `DATASETS`.

ExampleReader = Callable[[Path], Iterator[Example]]
Make = Callable[[int, Row], Example | None]
"""Makes the question of a row from its number and fields; None to leave it out."""


def find_data_file(data: Path, *names: str) -> Path:
    """The first of `names` found in the data folder or its `qa/`, plain or with .zst."""
    for name in names:
        for folder in (data / "qa", data):
            for path in (folder / f"{name}.zst", folder / name):
                if path.is_file():
                    return path
    raise InputError(
        f"{data}: no {' or '.join(names)} in it (looked for {data / 'qa' / names[0]}.zst); set KGQA_DATA to "
        "the folder of the data sets, see training/DATA.md"
    )


def _json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: not JSON ({error.msg}); fetch the file again") from error


def squad(path: Path, skipped: frozenset[str] = frozenset()) -> Iterator[Example]:
    """SQuAD 1.1 and 2.0, KorQuAD (Rajpurkar et al., 2016 and 2018; Lim et al., 2019)."""
    content = _json(path)
    if not isinstance(content, dict) or "data" not in content:
        raise InputError(
            f'{path}: not in SQuAD\'s format (no "data"); write rows of your own one object a line, as .jsonl'
        )
    try:
        for article in content["data"]:
            for number, paragraph in enumerate(article["paragraphs"]):
                passage = Passage(paragraph["context"], f"{article.get('title', '')}/{number}")
                for qa in paragraph["qas"]:
                    if qa["id"] not in skipped:
                        yield _squad_question(qa, passage, path)
    except (KeyError, TypeError) as error:
        raise InputError(f"{path}: not in SQuAD's format ({error}); see training/DATA.md") from error


def _squad_question(qa: dict[str, Any], passage: Passage, path: Path) -> Example:
    question = Question(qa["question"].strip(), (), passage, qa["id"])
    answers = () if qa.get("is_impossible") else qa["answers"]
    placed = [(answer["text"], answer["answer_start"]) for answer in answers]
    return Example(question, spans=spans_at(question, placed, str(path)))


def _squad1_train(data: Path) -> Iterator[Example]:
    """SQuAD 1.1 train, without the questions whose answer offset was guessed when the file was rebuilt."""
    path = find_data_file(data, "squad/train-v1.1.rebuilt.json", "squad/train-v1.1.json")
    uncertain: frozenset[str] = frozenset()
    if "rebuilt" in path.name:
        rows = read_lines(find_data_file(data, "squad/train-v1.1.uncertain_starts.tsv"))
        uncertain = frozenset(row.split("\t", 1)[0] for row in rows)
    yield from squad(path, uncertain)


def _squad2_unanswerable(number: int, row: Row) -> Example:
    """Unanswerable questions of SQuAD 2.0's training part, one per line (Rajpurkar et al., 2018)."""
    passage = Passage(row["context"], f"{row.get('title', '')}/{number}")
    return Example(Question(row["question"].strip(), (), passage, str(row["id"])))


def _natural_questions(_number: int, row: Row) -> Example:
    """Search questions with one paragraph each, as QED stores them (Kwiatkowski et al., 2019; Lamm et al., 2021), in
    QED's own format or in SQuAD's."""
    if "original_nq_answers" in row:
        identity, text, question = row["example_id"], row["paragraph_text"], row["question_text"]
        found = [(part["start"], part["end"]) for answer in row["original_nq_answers"] for part in answer]
    else:
        identity, text, question = row["id"], row["context"], row["question"]
        found = [(a["answer_start"], a["answer_start"] + len(a["text"])) for a in row["answers"]]
    spans = tuple(dict.fromkeys(Span(start, end) for start, end in found))
    return Example(Question(question.strip(), (), Passage(text, str(identity)), str(identity)), spans=spans)


def _boolq(number: int, row: Row) -> Example:
    """BoolQ (Clark et al., 2019): search questions that a paragraph answers with yes or no; ACE-YNQA (Sulem et al.,
    2022) in the same format, where half of the questions are unanswerable."""
    text = " ".join(row["question"].split()) + "?"
    label = row["answer"] if isinstance(row["answer"], bool) else None
    return Example(Question(text, (), Passage(row["passage"]), str(number)), yes_no_label=label)


_PROTO_LEAST = 4


def _protoqa(number: int, row: Row) -> Example | None:
    """ProtoQA (Boratko et al., 2020): every answer that at least `_PROTO_LEAST` of a hundred people gave is right."""
    votes = sorted(row["answers"].items(), key=lambda item: -item[1])
    answers = tuple(text for text, count in votes if count >= _PROTO_LEAST)
    question = Question(row["question"], (), None, str(row.get("id", number)))
    return Example(question, concepts=answers) if answers else None


_SPACED = re.compile(r" ([.,;:!?'’)])|([(‘]) | ([-–]) ")


def _fairytale(number: int, row: Row, open_answer: bool = False) -> Example | None:
    """FairytaleQA (Xu et al., 2022): the questions whose answer occurs verbatim in the story; with `open_answer` all,
    with the answer, in free words, as the accepted concept.
    """
    text = _SPACED.sub(lambda m: m[1] or m[2] or m[3], row["content"])
    answer = _SPACED.sub(lambda m: m[1] or m[2] or m[3], row["answer1"]).strip(" .")
    asked = row["question"].replace(" ?", "?")
    question = Question(asked, (), Passage(text, row["story_name"]), str(number))
    if open_answer:
        return Example(question, concepts=(answer,), kind=row["attribute"]) if answer else None
    start = text.find(answer)
    if not answer or start < 0 or row["ex_or_im"] != "explicit":
        return None
    return Example(question, spans=(Span(start, start + len(answer)),), kind=row["attribute"])


def _labelled(number: int, row: Row, open_answer: bool = False, with_fact: bool = False) -> Example:
    """CommonsenseQA (Talmor et al., 2019), OpenBookQA (Mihaylov et al., 2018), ARC (Clark et al., 2018). `open_answer`
    drops the choices: the right one is the accepted concept. `with_fact` makes OpenBookQA's fact the passage.
    """
    stem, options = row["question"]["stem"], row["question"]["choices"]
    texts = tuple(option["text"].strip() for option in options)
    gold = [option["label"] for option in options].index(row["answerKey"])
    passage = Passage(row["fact1"]) if with_fact else None
    identity = str(row.get("id", number))
    if open_answer:
        return Example(Question(stem, (), passage, identity), concepts=(texts[gold],))
    return Example(Question(stem, texts, passage, identity), choice=gold)


def _mcscript(path: Path) -> Iterator[Example]:
    """MCScript (Ostermann et al., 2018)."""
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(read_text(path))
    except ElementTree.ParseError as error:
        raise InputError(f"{path}: not XML ({error}); fetch the file again") from error
    for instance in root.iter("instance"):
        passage = Passage((instance.findtext("text") or "").strip(), instance.get("id", ""))
        for item in instance.iter("question"):
            answers = list(item.iter("answer"))
            texts = tuple(answer.get("text", "").strip() for answer in answers)
            gold = [answer.get("correct") for answer in answers].index("True")
            text, identity = item.get("text", "").strip(), f"{passage.id}-{item.get('id')}"
            yield Example(Question(text, texts, passage, identity), choice=gold)


def _qasc(number: int, row: Row) -> Example:
    """QASC (Khot et al., 2020)."""
    choices = tuple(row["cands"])
    return Example(Question(row["query"], choices, None, str(number)), choice=choices.index(row["answer"]))


def _piqa(name: str, data: Path) -> Iterator[Example]:
    """PIQA (Bisk et al., 2020), whose labels are in a separate file."""
    path, labels = find_data_file(data, f"piqa/{name}.jsonl"), find_data_file(data, f"piqa/{name}-labels.lst")
    for (number, row), label in zip(read_json_lines(path), read_lines(labels), strict=True):
        choices = (row["sol1"], row["sol2"])
        yield Example(Question(row["goal"], choices, None, str(number)), choice=int(label))


def _cosmos(_number: int, row: Row) -> Example:
    """Cosmos QA (Huang et al., 2019)."""
    choices = tuple(row[f"answer{i}"] for i in range(4))
    question = Question(row["question"], choices, Passage(row["context"]), row["id"])
    return Example(question, choice=int(row["label"]))


def _arc(number: int, row: Row) -> Example:
    """ARC as instructions: question and options in one text, `answer` names the option."""
    text = row["instruction"].split("question: ", 1)[1].rsplit("\n\nAnswer format:", 1)[0]
    stem, _, options = text.partition("\n\nAnswer1: ")
    choices = tuple(option.strip() for option in re.split(r"\s*Answer\d: ", options))
    question = Question(stem.strip(), choices, None, str(number))
    return Example(question, choice=int(row["answer"].removeprefix("answer")) - 1)


def _sciq(number: int, row: Row) -> Example:
    """SciQ (Welbl et al., 2017), each question with its supporting paragraph; the position of the right choice
    varies."""
    wrong = [row[f"distractor{place}"] for place in (1, 2, 3)]
    gold = number % 4
    choices = (*wrong[:gold], row["correct_answer"], *wrong[gold:])
    return Example(Question(row["question"], choices, Passage(row["support"]), str(number)), choice=gold)


def _tweetqa(_number: int, row: Row) -> Example | None:
    """TweetQA (Xiong et al., 2019): the questions with an answer that occurs verbatim in the tweet."""
    tweet = row["Tweet"]
    starts = {answer: tweet.lower().find(answer.lower()) for answer in row["Answer"] if answer}
    spans = tuple(Span(start, start + len(answer)) for answer, start in starts.items() if start >= 0)
    return Example(Question(row["Question"], (), Passage(tweet), row["qid"]), spans=spans) if spans else None


def each_row(make: Make | str, path: Path) -> Iterator[Example]:
    """The questions of a file with one per row (JSON lines, a JSON list or a table), without those that `make` (or the
    function `package.module:NAME`) leaves out."""
    made: Make = imported("question set", make, FunctionType) if isinstance(make, str) else make
    kind = path.name.removesuffix(".zst").rpartition(".")[2]
    rows: Iterable[tuple[int, Row]] = read_json_lines(path)
    if kind in ("csv", "tsv"):
        tabs: Any = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if kind == "tsv" else {}
        rows = enumerate(csv.DictReader(read_lines(path), **tabs))
    elif kind == "json":
        rows = enumerate(_json(path))
    for number, row in rows:
        try:
            example = made(number, row)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}:{number}: unexpected fields ({error}); see training/DATA.md") from error
        if example is not None:
            yield example


def _at(read: Callable[[Path], Iterator[Example]], *names: str) -> ExampleReader:
    return lambda data: read(find_data_file(data, *names))


def _rows(make: Make | str, *names: str) -> ExampleReader:
    return _at(partial(each_row, make), *names)


def _parts(make: Make, name: str, train: str, dev: str) -> dict[str, ExampleReader]:
    return {f"{name}-train": _rows(make, train), f"{name}-dev": _rows(make, dev)}


DATASETS: dict[str, ExampleReader] = {
    "squad1-train": _squad1_train,
    "squad1-dev": _at(squad, "squad/dev-v1.1.json"),
    "squad2-train": _at(squad, "squad/train-v2.0.json"),
    "squad2-unanswerable": _rows(_squad2_unanswerable, "squad2_unans/unanswerable_train.jsonl"),
    **_parts(_natural_questions, "natural-questions", "qed_nq/train.jsonl", "qed_nq/dev.jsonl"),
    "boolq-dev": _rows(_boolq, "boolq/dev_with_passage.jsonl"),
    "ace-ynqa": _rows(_boolq, "ace_whqa/ACE-YNQA-full.jsonl"),
    "protoqa-train": _rows(_protoqa, "protoqa/train.jsonl"),
    **_parts(_fairytale, "fairytale", "fairytaleqa/train.csv", "fairytaleqa/valid.csv"),
    "fairytale-open-train": _rows(partial(_fairytale, open_answer=True), "fairytaleqa/train.csv"),
    "squad2-dev": _at(squad, "squad/dev-v2.0.rebuilt.json", "squad/dev-v2.0.json"),
    "tweetqa-dev": _rows(_tweetqa, "tweetqa/dev.json"),
    "sciq-dev": _rows(_sciq, "sciq/valid.jsonl"),
    "korquad-dev": _at(squad, "ko/korquad/KorQuAD_v1.0_dev.json"),
    **{
        f"kobest-{name.lower()}-{split}": _rows(make, f"ko/kobest/{name}.{split}.tsv")
        for name, make in (("BoolQ", kobest_boolq), ("COPA", kobest_copa), ("HellaSwag", kobest_hellaswag))
        for split in ("train", "dev", "test")
    },
    **_parts(_labelled, "csqa", "csqa/train.jsonl", "csqa/dev.jsonl"),
    **_parts(partial(_labelled, open_answer=True), "csqa-open", "csqa/train.jsonl", "csqa/dev.jsonl"),
    **_parts(_labelled, "openbookqa", "openbookqa/train.jsonl", "openbookqa/dev.jsonl"),
    **_parts(
        partial(_labelled, with_fact=True),
        "openbookqa-fact",
        "openbookqa/train_complete.jsonl",
        "openbookqa/dev_complete.jsonl",
    ),
    "mcscript-train": _at(_mcscript, "mcscript/train-data.xml"),
    "mcscript-dev": _at(_mcscript, "mcscript/dev-data.xml"),
    "qasc-dev": _rows(_qasc, "qasc/dev.qasc.json"),
    "piqa-train": partial(_piqa, "train_ih"),
    "piqa-dev": partial(_piqa, "valid"),
    **_parts(social, "socialiqa", "socialiqa/train.jsonl", "socialiqa/socialiqa_dev.jsonl"),
    **_parts(winogrande, "winogrande", "winogrande/train_l.jsonl", "winogrande/dev.jsonl"),
    **_parts(_labelled, "riddlesense", "riddlesense/rs_train.jsonl", "riddlesense/rs_dev.jsonl"),
    **_parts(e_care, "e-care", "ecare/train.jsonl", "ecare/dev.jsonl"),
    **_parts(comve_sense, "comve-sense", "comve/train.csv", "comve/dev.csv"),
    **_parts(comve_reasons, "comve-reasons", "comve/train.csv", "comve/dev.csv"),
    **_parts(creak, "creak", "creak/train.jsonl", "creak/dev.jsonl"),
    "creak-contrast": _rows(creak, "creak/contrast_set.jsonl"),
    **_parts(strategy, "strategyqa", "strategyqa/train.jsonl", "strategyqa/dev.jsonl"),
    "snli-dev": _rows(inference, "nli/snli.dev.csv"),
    "mnli-dev": _rows(inference, "nli/mnli.dev.csv"),
    "boolq-unanswerable": _rows(boolq_unanswerable, "boolq/boolq_3l_dev_IDK.jsonl"),
    "cosmosqa-dev": _rows(_cosmos, "cosmosqa/valid.csv"),
    **_parts(csqa2, "csqa2", "csqa2/CSQA2_train.jsonl", "csqa2/CSQA2_dev.jsonl"),
    **{
        f"arc-{level.lower()}-{split}": _rows(_arc, f"arc/ARC-{level}.{split}.json")
        for level in ("Easy", "Challenge")
        for split in ("train", "test")
    },
}
"""Name -> reader of a data folder (what `KGQA_DATA` names). Test files are for evaluation, never for training."""


TABLES = (".csv", ".tsv", ".parquet")
"""Suffixes of tables of questions."""
WORKBOOKS = (".xlsx", ".xls", ".ods")


def load_dataset(spec: str, data: Path | None = None) -> Iterator[Example]:
    """The examples of a data set, read lazily.

    `spec` is a name in `DATASETS`, or the path of your own file: JSON lines (see `read_examples`) or SQuAD's JSON,
    which may be compressed with zstd, or a table (CSV, TSV, Parquet; see `table_examples`). A pattern ("mine_*.jsonl")
    names all matching files. Published sets are in the folder `data`, by default the environment's KGQA_DATA, else
    ./data. Raises InputError if the name is unknown, the file is missing, or a line cannot be used (file:line and
    remedy).
    """
    if spec in DATASETS:
        return DATASETS[spec](data or data_folder())
    return chain.from_iterable(_read(path) for path in files_of(spec))


def files_of(spec: str) -> list[Path]:
    """The files that a path or a pattern names. Raises InputError if there are none."""
    path = Path(spec)
    if any(mark in spec for mark in "*?[") and not path.exists():
        found = sorted(path.parent.glob(path.name))
        if not found:
            raise InputError(f"{spec}: no such files; the pattern is looked for in {path.parent}")
        return found
    if not path.exists():
        near = difflib.get_close_matches(spec, DATASETS, n=1)
        hint = f"did you mean {near[0]}?" if near else "published sets are named in training/DATA.md"
        raise InputError(f"{spec}: no such file or data set; {hint}")
    return [path]


def _read(path: Path) -> Iterator[Example]:
    if path.name.removesuffix(".zst").endswith(".json"):
        return squad(path)
    if path.suffix.lower() in WORKBOOKS:
        raise InputError(f"{path}: questions are not read from a workbook; save the sheet as CSV")
    if path.suffix.lower() in TABLES:
        return table_examples(path)
    return read_examples(path)


def table_examples(path: Path) -> Iterator[Example]:
    """Questions with answers from a table whose first line names its columns.

    The columns are the fields of JSON lines: `question`, `passage`, `choices` and `answer` (several separated by |, or
    by ; if | separates the columns; "(none)" for an unanswerable question), `yes_no` (yes or no), `source`, `kind`,
    `id`. Raises InputError, which names file, line and remedy.
    """
    for row in read_table(str(path), path.read_bytes()):
        where, question = f"{path}:{row.number}", row.question
        if question is None:
            raise InputError(f"{where}: {row.error}")
        if (
            row.golds is None
            and not {"choice", "span", "yes_no"} & set(row.fields)
            and row.fields.get("source") != "none"
        ):
            raise InputError(
                f"{where}: no answer; fill the column `answer`, with {NOBODY_KNOWS} where nobody can"
            )
        yield example_of(row.fields, where, question.id)
