import csv
import datetime
import fcntl
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

import kgqa.cli.predict as predicting
from kgqa.cli.predict import PredictionRun, predict_file, read_questions
from kgqa.cli.train import train_recipe
from kgqa.types import InputError

FINE = b'{"id": "a", "question": "What did I dig with?"}\n'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (FINE.decode().encode("utf-16"), "not UTF-8"),
        ('{"question": "café?"}'.encode("latin-1"), "not UTF-8"),
        (b'{"id": ' + b"9" * 5_000 + b', "question": "q"}', "number is too long"),
        (b'{"id": {"a": 1}, "question": "q"}', "id"),
        (b'{"id": "' + b"i" * 300 + b'", "question": "q"}', "id"),
        (b"[" * 100_000, "nesting|not JSON"),
        (b"{", "not JSON"),
        (b"[]", 'no "question"'),
        (b'{"question": "q", "choices": "ab"}', "choices"),
        (b'[\n {"question": "q"}\n]', "jq -c"),
        (b'{"question": "' + b"q" * (17 << 20) + b'"}', "longer than"),
    ],
    ids=[
        "utf-16",
        "latin-1",
        "huge-number",
        "id-object",
        "long-id",
        "nested",
        "cut",
        "empty",
        "text",
        "list",
        "long",
    ],
)
def test_what_is_no_question_ends_in_one_line(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        read_questions(path)
    assert (
        "in.jsonl:1" in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 300
    )


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(b"\xef\xbb\xbf" + FINE)
    assert [question.id for question in read_questions(tmp_path / "in.jsonl")[0]] == ["a"]


@pytest.mark.parametrize("path", ["/dev/zero", "/"])
def test_devices_and_folders_are_not_read(path: str) -> None:
    with pytest.raises(InputError, match="not a regular file"):
        read_questions(Path(path))


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
def test_files_of_all_forms_are_answered_and_bad_rows_left_out_by_their_number(
    form: str, model_folder: Path, tools_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"id": "a", "question": "What did I dig with?", "passage": "I dug, and dug.", "choices": ""},
        {"id": "b", "question": "", "passage": "", "choices": ""},
        {"id": "c", "question": "Which?", "passage": "", "choices": "bee|hive"},
    ]
    source, target = tmp_path / f"in.{form}", tmp_path / "out.jsonl"
    if form in ("csv", "tsv"):
        with source.open("w", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]), delimiter="," if form == "csv" else "\t")
            table.writeheader()
            table.writerows(rows)
    else:
        lists = [{**row, "choices": row["choices"].split("|") if row["choices"] else []} for row in rows]
        if form == "parquet":
            parquet = pytest.importorskip("pyarrow.parquet")
            parquet.write_table(pytest.importorskip("pyarrow").Table.from_pylist(lists), source)
        else:
            source.write_text("".join(json.dumps(row) + "\n" for row in lists))
    run = PredictionRun(str(tools_file), str(model_folder), 4)
    predict_file(str(source), str(target), run)
    answers = [json.loads(line) for line in target.read_text().splitlines()]
    assert [answer["id"] for answer in answers] == ["a", "c"] and answers[1]["answer"] in ("bee", "hive")
    reported = capsys.readouterr().err
    assert "1 rows left out" in reported and ("3: " if form in ("csv", "tsv") else ":2: ") in reported
    with pytest.raises(InputError, match=r"the question is empty|no question"):
        predict_file(str(source), str(tmp_path / "strict.jsonl"), replace(run, strict=True))
    assert not (tmp_path / "strict.jsonl").exists()


def answer(source: Path, target: Path, graph: Path, model: Path) -> None:
    predict_file(source, target, PredictionRun(str(graph), str(model), 4))


def test_half_a_letter_poisons_no_file(model_folder: Path, tools_file: Path, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(b'{"question": "What is \\ud800?"}\n')
    with pytest.raises(InputError, match="question 1: .*surrogate"):
        answer(tmp_path / "in.jsonl", tmp_path / "out.jsonl", tools_file, model_folder)
    assert not (tmp_path / "out.jsonl").exists()


def test_only_the_same_run_goes_on(model_folder: Path, tools_file: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(FINE)
    for bad in (source, tmp_path, Path("/dev/full")):
        with pytest.raises(InputError, match="input itself|regular file"):
            answer(source, bad, tools_file, model_folder)
    answer(source, target, tools_file, model_folder)
    whole = target.read_bytes()
    answer(source, target, tools_file, model_folder)  # all there
    with (tmp_path / "out.jsonl.part").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another run"):
            answer(source, target, tools_file, model_folder)
    source.write_bytes(FINE.replace(b"dig", b"plant"))
    with pytest.raises(InputError, match="questions changed"):
        answer(source, target, tools_file, model_folder)
    source.write_bytes(FINE)
    tools_file.write_text(tools_file.read_text().replace("trowel", "spade"))
    with pytest.raises(InputError, match="graph changed"):
        answer(source, target, tools_file, model_folder)
    assert target.read_bytes() == whole and json.loads(whole)["id"] == "a"


def test_the_threshold_for_none_is_a_setting_and_part_of_a_run(
    model_folder: Path, tools_file: Path, tmp_path: Path
) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"question": "What is red?", "passage": "a red house"}\n')
    never, always = (
        PredictionRun(str(tools_file), str(model_folder), 4, no_answer_threshold=above)
        for above in (1.0, 0.0)
    )
    predict_file(source, target, never)
    assert json.loads(target.read_text())["answer"]
    with pytest.raises(InputError, match="threshold for none changed"):
        predict_file(source, target, always)
    predict_file(source, tmp_path / "none.jsonl", always)
    assert json.loads((tmp_path / "none.jsonl").read_text())["source"] == "none"


def test_parquet_and_addresses_hold_the_answers_of_json_lines(
    model_folder: Path, tools_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    fsspec = pytest.importorskip("fsspec")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rows = [
        {"id": "a", "question": "What did I dig with?", "passage": None, "choices": ["trowel", "excavator"]},
        {"id": "b", "question": "What is a bee?", "passage": "Bees make honey.", "choices": None},
    ]
    plain, columns = tmp_path / "in.jsonl", tmp_path / "in.PARQUET"
    plain.write_text("".join(json.dumps(row) + "\n" for row in rows))
    parquet.write_table(pyarrow.Table.from_pylist(rows), columns)
    with fsspec.open("memory://asked/in.jsonl", "wb") as file:
        file.write(plain.read_bytes())
    asked = PredictionRun(str(tools_file), str(model_folder), 4)
    predict_file(str(plain), str(tmp_path / "out.jsonl"), asked)
    expected = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    predict_file("memory://asked/in.jsonl", "memory://asked/out.jsonl", asked)
    predict_file(str(columns), str(tmp_path / "out.parquet"), asked)
    with fsspec.open("memory://asked/out.jsonl", "rb") as file:
        there = [json.loads(line) for line in file]
    found = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    for wanted, one, two in zip(expected, there, found, strict=True):
        assert (wanted["id"], wanted["answer"]) == (one["id"], one["answer"]) == (two["id"], two["answer"])
        assert json.loads(two["candidates"]) == wanted["candidates"]
    with pytest.raises(InputError, match="cannot be read"):
        predict_file("memory://asked/nowhere.jsonl", str(tmp_path / "none.jsonl"), asked)


def test_columns_of_any_type_pass_and_a_bad_row_names_the_users_file(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path, when = tmp_path / "in.parquet", datetime.datetime(2024, 5, 1)
    rows = {"id": [when, when], "question": [b"What did I dig with?", b"Why?"], "when": [when] * 2}
    parquet.write_table(pyarrow.table({**rows, "picture": [b"\xff\xd8", None]}), path)
    assert [(q.id, q.text) for q in read_questions(path)[0]] == [
        ("2024-05-01 00:00:00", "What did I dig with?"),
        ("2024-05-01 00:00:00", "Why?"),
    ]
    parquet.write_table(pyarrow.table({"question": ["What is a bee?", None]}), path)
    with pytest.raises(InputError, match=f"^{path}:2: no .question"):
        read_questions(path)
    parquet.write_table(pyarrow.table({"question": [b"\xff"]}), path)
    with pytest.raises(InputError, match=f"^{path}: cannot be read"):
        read_questions(path)


def test_nothing_is_left_in_temporary_folders_when_a_run_is_killed(
    model_folder: Path, tools_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    parquet.write_table(pyarrow.table({"question": ["What did I dig with?"]}), tmp_path / "in.parquet")
    asked = PredictionRun(str(tools_file), str(model_folder), 4)
    there: list[list[Path]] = []
    answered = predicting._answered

    def looked_at(*given):
        there.append([path for path in temporary.iterdir() if "predict" in path.name])
        return answered(*given)

    monkeypatch.setattr(predicting, "_answered", looked_at)
    predict_file(str(tmp_path / "in.parquet"), str(tmp_path / "out.jsonl"), asked)
    assert there == [[]]


def test_from_a_recipe_to_labels(
    encoder_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kgqa.cli.predict import classify_file

    monkeypatch.chdir(tmp_path)
    rows = [{"id": 1, "text": "red hole", "label": "a"}, {"id": 2, "text": "blue hole", "label": "b"}]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("mine.toml").write_text(
        'name = "mine"\n[encoder]\nfolder = "encoder"\n[task]\nkind = "sentence"\ntrain = "rows.jsonl"\nepochs = 1\n'
    )
    train_recipe(Path("mine.toml"), [], None)
    classify_file(Path("rows.jsonl"), Path("out.jsonl"), Path("runs/mine/export"), 16, "cpu")
    reported = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [row["id"] for row in reported] == [1, 2] and set(reported[0]["scores"]) == {"a", "b"}


def test_forms_that_are_not_known_are_refused_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "q.docx").write_bytes(b"PK")
    for source, target in (("q.docx", "a.jsonl"), ("q.jsonl", "a.csv"), ("q.jsonl", "a.xlsx")):
        with pytest.raises(InputError, match="the name must end in one of"):
            predicting.predict_file(
                tmp_path / source, tmp_path / target, predicting.PredictionRun("everyday", "kgqa-small", 1)
            )
    monkeypatch.setattr(predicting.importlib.util, "find_spec", lambda _: None)
    for name in ("q.parquet", "s3://there/q.parquet"):
        with pytest.raises(InputError, match=r"pip install 'kgqa\[cluster\]'"):
            predicting.read_questions(name)


def test_questions_in_the_shapes_that_people_have(tmp_path: Path) -> None:
    row = {"Question": "Who left?", "context": "So Ann left.", "options": ["Ann", "Bo"], "title": "x"}
    (tmp_path / "q.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "q.csv").write_text("Question,Context,A,B\nWho left?,So Ann left.,Ann,Bo\n")
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.Table.from_pylist([row]), tmp_path / "q.parquet")
    for name in ("q.jsonl", "q.csv", "q.parquet"):
        ((question,), faults) = read_questions(tmp_path / name)
        assert (question.passage_text, question.choices, faults) == ("So Ann left.", ("Ann", "Bo"), [])
