"""Nothing that stands where a user points is lost, whatever it is, and a stopped run goes on."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kgqa.cli import predict as predict_module
from kgqa.cli.predict import PredictionRun, predict_file
from kgqa.types import InputError

ASKED = [{"id": f"q{n}", "question": f"What is it {n}?"} for n in range(5)]
Predicts = Callable[..., None]


def reported(row: dict[str, str], answer: str = "a bee") -> str:
    return (
        json.dumps({**row, "answer": answer, "source": "knowledge", "candidates": [{"text": answer}]}) + "\n"
    )


@pytest.fixture
def predicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Predicts:
    """`kgqa predict` with a reader that says one thing; `stops` batches in, it is killed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(predict_module, "find_model", Path)
    monkeypatch.setattr(predict_module, "_run_of", lambda questions, run: {"reader": run.model})
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ASKED))

    def run(source: str, target: str, overwrite: bool = False, stops: int = 9, model: str = "bee") -> None:
        def answered(questions, *_):  # type: ignore[no-untyped-def]
            for number, question in enumerate(questions):
                if number == stops:
                    raise KeyboardInterrupt
                yield [reported({"id": question.id, "question": question.text}, f"a {model}")]

        monkeypatch.setattr(predict_module, "_answered", answered)
        predict_file(source, target, PredictionRun("none", model, 1), overwrite)

    return run


PRECIOUS = {
    "unfinished.json": '{"precious":1}',
    "own.jsonl": '{"precious":1}\n',
    "half.jsonl": reported(ASKED[0]) + '{"precious":1}',
    "questions.jsonl": "".join(json.dumps(row) + "\n" for row in ASKED),
    "longer.jsonl": "".join(map(reported, [*ASKED, ASKED[0]])),
    "others.jsonl": reported({"id": "q0", "question": "Something else?"}),
    "text.parquet": "no Parquet at all",
    "binary.jsonl": "\0\0\0\n",
}


def test_no_table_is_written_and_one_that_is_there_stays(predicts: Predicts) -> None:
    Path("table.csv").write_text("id,question\n1,Who?\n")
    with pytest.raises(InputError, match="unsupported format"):
        predicts("in.jsonl", "table.csv", overwrite=True)
    assert Path("table.csv").read_text() == "id,question\n1,Who?\n"


@pytest.mark.parametrize("name", PRECIOUS)
def test_what_is_not_ours_stays_to_the_byte_unless_it_may_be_overwritten(
    name: str, predicts: Predicts
) -> None:
    Path(name).write_text(PRECIOUS[name])
    with pytest.raises(InputError, match="--overwrite") as caught:
        predicts("in.jsonl", name)
    assert "\n" not in str(caught.value) and Path(name).read_text() == PRECIOUS[name]
    assert sorted(os.listdir()) == sorted(["in.jsonl", name])
    with pytest.raises(KeyboardInterrupt):
        predicts("in.jsonl", name, overwrite=True, stops=2)
    assert Path(name).read_text() == PRECIOUS[name]  # until all are there
    predicts("in.jsonl", name, overwrite=True)
    assert Path(name).read_bytes() != PRECIOUS[name].encode() and not Path(f"{name}.part").exists()
    predicts("in.jsonl", name)  # our own


def test_parquet_of_others_is_kept(predicts: Predicts) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"id": [1, 2], "question": ["Who?", "Why?"]}), "in.parquet")
    parquet.write_table(pyarrow.table({"precious": [1]}), "own.parquet")
    kept = Path("own.parquet").read_bytes(), Path("in.parquet").read_bytes()
    for target, words in (("own.parquet", "--overwrite"), ("in.parquet", "input itself")):
        with pytest.raises(InputError, match=words):
            predicts("in.parquet", target)
    assert kept == (Path("own.parquet").read_bytes(), Path("in.parquet").read_bytes())
    with pytest.raises(InputError, match="input itself"):
        predicts("in.parquet", "in.parquet", overwrite=True)
    predicts("in.parquet", "own.parquet", overwrite=True)
    predicts("in.parquet", "own.parquet")
    assert [row["answer"] for row in parquet.read_table("own.parquet").to_pylist()] == ["a bee"] * 2


def test_addresses_of_others_are_kept(predicts: Predicts) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe("/kept/own.jsonl", b'{"precious":1}')
    memory.pipe("/kept/in.jsonl", Path("in.jsonl").read_bytes())
    for target, words in (("own", "--overwrite"), ("in", "input itself")):
        with pytest.raises(InputError, match=words):
            predicts("memory://kept/in.jsonl", f"memory://kept/{target}.jsonl")
    assert memory.cat("/kept/own.jsonl") == b'{"precious":1}'
    predicts("memory://kept/in.jsonl", "memory://kept/own.jsonl", overwrite=True)
    predicts("memory://kept/in.jsonl", "memory://kept/own.jsonl")
    assert memory.cat("/kept/own.jsonl").count(b"\n") == 5
    with pytest.raises(InputError, match="the reader changed.*--overwrite"):
        predicts("memory://kept/in.jsonl", "memory://kept/own.jsonl", model="hive")
    assert sorted(memory.ls("/kept", detail=False)) == ["/kept/in.jsonl", "/kept/own.jsonl"]
    with pytest.raises(InputError, match="kind of URL"):
        predicts("in.jsonl", "nosuch://kept/out.jsonl")


def test_no_link_to_the_input_a_folder_or_a_pipe_is_written(predicts: Predicts) -> None:
    Path("soft.jsonl").symlink_to("in.jsonl")
    os.link("in.jsonl", "hard.jsonl")
    Path("round.jsonl").symlink_to("round.jsonl")
    Path("folder.jsonl").mkdir()
    os.mkfifo("pipe.jsonl")
    os.mkfifo("pipe.parquet")
    os.mkfifo("out.jsonl.part")
    before, there = Path("in.jsonl").read_bytes(), sorted(os.listdir())
    refused = ["in.jsonl", "soft.jsonl", "hard.jsonl", f"file://{Path('in.jsonl').absolute()}"]
    refused += ["folder.jsonl", "pipe.jsonl", "pipe.parquet", "round.jsonl", "/dev/null", "out.jsonl"]
    for target in refused:
        with pytest.raises(InputError, match="input itself|not a regular file"):
            predicts("in.jsonl", target, overwrite=True)
    for source in ("soft.jsonl", "hard.jsonl", f"file://{Path('in.jsonl').absolute()}"):
        with pytest.raises(InputError, match="input itself"):
            predicts(source, "in.jsonl", overwrite=True)
    assert Path("in.jsonl").read_bytes() == before and sorted(os.listdir()) == there


def test_a_link_stays_one_and_another_name_of_the_old_file_keeps_it(predicts: Predicts) -> None:
    Path("there").mkdir()
    Path("out.jsonl").symlink_to("there/real.jsonl")
    predicts("in.jsonl", "out.jsonl")
    os.link("there/real.jsonl", "backup.jsonl")
    predicts("in.jsonl", "out.jsonl", overwrite=True, model="hive")
    assert Path("out.jsonl").is_symlink() and "a hive" in Path("there/real.jsonl").read_text()
    assert "a bee" in Path("backup.jsonl").read_text()


def test_a_stopped_run_goes_on_also_where_a_line_was_cut_off(predicts: Predicts) -> None:
    part = Path("out.jsonl.part")
    with pytest.raises(KeyboardInterrupt):
        predicts("in.jsonl", "out.jsonl", stops=2)
    assert not Path("out.jsonl").exists() and part.read_text().count("\n") == 2
    with part.open("a") as file:
        file.write('{"id": "q2", "quest')
    with pytest.raises(InputError, match="reader changed"):
        predicts("in.jsonl", "out.jsonl", model="hive")
    with pytest.raises(KeyboardInterrupt):
        predicts("in.jsonl", "out.jsonl", stops=1)  # one more
    assert part.read_text() == "".join(map(reported, ASKED[:3]))
    predicts("in.jsonl", "out.jsonl")
    assert Path("out.jsonl").read_text() == "".join(map(reported, ASKED)) and not part.exists()
    Path("out.jsonl").write_text("".join(map(reported, ASKED[:3])))
    predicts("in.jsonl", "out.jsonl")
    assert Path("out.jsonl").read_text() == "".join(map(reported, ASKED))


def test_a_file_that_looks_unfinished_but_is_no_runs_is_kept(predicts: Predicts) -> None:
    part = Path("out.jsonl.part")
    part.write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(InputError, match="not from an interrupted run"):
            predicts("in.jsonl", "out.jsonl", overwrite=overwrite)
    assert part.read_text() == "mine"


def test_what_comes_to_be_there_meanwhile_is_kept(
    predicts: Predicts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answered(questions, *_):  # type: ignore[no-untyped-def]
        Path("out.jsonl").write_text("mine")
        yield [reported({"id": q.id, "question": q.text}) for q in questions]

    monkeypatch.setattr(predict_module, "_answered", answered)
    with pytest.raises(InputError, match="already"):
        predict_file("in.jsonl", "out.jsonl", PredictionRun("none", "bee", 1))
    assert Path("out.jsonl").read_text() == "mine" and Path("out.jsonl.part").read_text().count("\n") == 5
