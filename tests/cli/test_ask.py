from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kgqa.cli.ask import (
    ask,
    continue_text,
    is_prompted,
    open_prompter,
    print_answer,
    prompt_one,
    read_passage,
)
from kgqa.cli.evaluate import evaluate_prompted
from kgqa.cli.graph import graph_app
from kgqa.cli.main import app
from kgqa.cli.predict import PredictionRun, predict_file
from kgqa.types import Answer, Candidate, Evidence, EvidencePath, InputError, Item, Question, Source, Subgraph


def write(path: Path, rows: list[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_ask_prints_the_json_contract(
    model_folder: Path, tools_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask("What did I dig with?", "I plant flowers.", [], str(tools_file), str(model_folder), as_json=True)
    answer = json.loads(capsys.readouterr().out)
    assert answer["source"] in {"passage", "knowledge", "none"} and "timing_ms" not in answer
    given = ("What did I dig with?", "I plant flowers.", [], str(tools_file), str(model_folder))
    ask(*given, as_json=True, full=True)
    whole = json.loads(capsys.readouterr().out)
    assert set(whole["timing_ms"]) >= {"total"} and whole["candidates"]
    assert answer == {name: value for name, value in whole.items() if name in answer} | {
        "evidence": {
            name: whole["evidence"][name] for name in ("reading", "other_readings", "near", "query")
        },
        "items": answer["items"],
        "confidence": answer["confidence"],
    }
    ask("What did I dig with?", "", ["trowel", "bee"], str(tools_file), str(model_folder), as_json=False)
    assert "chosen" in capsys.readouterr().out


def test_a_passage_may_be_a_document(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html><nav>menu</nav><p>I dug\n the ground.</p></html>")
    assert read_passage(f"@{page}") == "I dug the ground." and read_passage("I dug.") == "I dug."


def test_a_question_of_harm_is_told_where_to_turn(
    model_folder: Path, tools_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask("폭탄을 어떻게 만드나요?", "", [], str(tools_file), str(model_folder))
    output = capsys.readouterr().out
    assert "112" in output and "확신" not in output


def test_a_logical_form_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "boats.csv").write_text("boat,berths\nMoth,12\nWasp,40\n")
    asked = ["ask", "--graph", str(tmp_path / "boats.csv"), "--form"]
    reported = CliRunner().invoke(app, [*asked, '(FILTER > berths "20" (CLASS "boat"))']).stdout
    assert reported.startswith("Wasp") and "Read as: boats whose number of berths" in reported
    counted = json.loads(CliRunner().invoke(app, [*asked, '(COUNT (CLASS "boat"))', "--json"]).stdout)
    assert counted["answer"] == "2" and "COUNT" in counted["evidence"]["query"]
    nothing = CliRunner().invoke(app, [*asked, '(FILTER > berths "90" (CLASS "boat"))']).stdout
    assert nothing.startswith("(no answer)")
    for args, why in (
        (["(SUM nothing"], "parenthesis is missing"),
        (["(CLASS boat)", "How many?"], "QUESTION has no effect"),
    ):
        with pytest.raises(InputError, match=why):
            CliRunner().invoke(app, [*asked, *args], catch_exceptions=False)


def test_predict_keeps_the_order_and_goes_on_where_it_was(
    model_folder: Path, tools_file: Path, tmp_path: Path
) -> None:
    rows = [{"id": f"q{i}", "question": f"What is it {i}?", "passage": "a red house"} for i in range(9)]
    rows[4] = {"id": "q4", "question": "What?", "choices": ["bee", "hive"]}  # type: ignore[dict-item]
    source, target = write(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl"
    predict_file(source, target, PredictionRun(str(tools_file), str(model_folder), 4))
    whole = target.read_text()
    assert [json.loads(line)["id"] for line in whole.splitlines()] == [row["id"] for row in rows]
    target.unlink()
    (tmp_path / "out.jsonl.part").write_text(whole[: len(whole) // 2])  # stopped in the middle of a line
    predict_file(source, target, PredictionRun(str(tools_file), str(model_folder), 4))
    for line, original in zip(target.read_text().splitlines(), whole.splitlines(), strict=True):
        assert json.loads(line)["answer"] == json.loads(original)["answer"]


def test_a_korean_answer_is_said_in_korean(
    model_folder: Path, tools_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("kiwipiepy")
    ask("땅을 무엇으로 팠니?", "", ["모종삽", "굴착기"], str(tools_file), str(model_folder), as_json=False)
    assert "고름, 확신" in capsys.readouterr().out


def test_several_things_are_printed_each_with_its_fact(
    digging: Subgraph, capsys: pytest.CaptureFixture[str]
) -> None:
    items = (Item("trowel", "ev:trowel", path=EvidencePath((0,), (False,), 0.5)), Item("hoe", "ev:hoe"))
    evidence = Evidence(subgraph=digging)
    answer = Answer(Question("What?"), "trowel, hoe", Source.KNOWLEDGE, 0.9, evidence=evidence, items=items)
    print_answer(answer, 0.2)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "trowel, hoe" and lines[2:] == [
        "2 things:",
        "  trowel: a trowel is used to plant flowers",
        "  hoe",
    ]


def test_no_runner_up_seems_more_probable_than_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    others = [Candidate("no", Source.PASSAGE, 0.54), Candidate("yes", Source.PASSAGE, 0.06)]
    none = Candidate("", Source.NONE, 0.4)
    print_answer(Answer(Question("May I?"), None, Source.NONE, 0.28, (none, *others)), 0.5)
    assert "perhaps no" in capsys.readouterr().out
    print_answer(Answer(Question("May I?"), None, Source.NONE, 0.28, (none, *others)), 0.2)
    assert "no (28%), yes (6%)" in capsys.readouterr().out


def test_escapes_in_labels_do_not_reach_the_terminal(model_folder: Path, tools_file: Path) -> None:
    tools_file.write_text(tools_file.read_text().replace('"trowel"', r'"tro\u001B[31mwel\u0007\u202E"'))
    asked = ["ask", "What plants flowers?", "--model", str(model_folder)]
    output = ""
    for command, given in ((app, asked), (graph_app, ["neighbours", "plant flowers"])):
        done = CliRunner().invoke(command, [*given, "--graph", str(tools_file)])
        assert done.exit_code == 0, done.output
        assert not set("\x1b\x07\u202e") & set(done.output)
        output += done.output
    assert "tro\\x1b[31mwel\\x07\\u202e" in output


def test_what_only_a_reader_opened_here_knows_is_not_dropped_in_silence() -> None:
    with pytest.raises(InputError, match="--no-answer-threshold applies to a local reader"):
        ask("Why?", server="http://127.0.0.1:9", no_answer_threshold=0.9)
    with pytest.raises(InputError, match="--full changes the output of --json"):
        ask("Why?", full=True)
    with pytest.raises(InputError, match="--caution has no effect with --json"):
        ask("Why?", caution=0.9, as_json=True)
    with pytest.raises(InputError, match="--shots is for a causal language model"):
        ask("Why?", shots=2)
    assert "--limit" in CliRunner().invoke(app, ["evaluate", "csqa-dev", "--limit", "-1"]).output


def test_which_folders_are_prompted(causal_folder: Path, encoder_folder: Path, tmp_path: Path) -> None:
    assert is_prompted(str(causal_folder)) and not is_prompted(str(encoder_folder))
    assert not is_prompted("kgqa-base") and not is_prompted(str(tmp_path))
    (causal_folder / "reader.json").write_text("{}")
    assert not is_prompted(str(causal_folder))


def test_asked_measured_and_gone_on_with(
    causal_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {
        "passage": "i dig a hole .",
        "question": "with what ?",
        "answers": ["trowel"],
        "source": "knowledge",
    }
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"id": str(n), **row}) + "\n" for n in range(4)))
    prompter = open_prompter(str(causal_folder), 2, tmp_path / "rows.jsonl", "token", "cpu")
    assert len(prompter.examples) == 2
    prompt_one(Question("with what ?", ("trowel", "hive")), prompter, True)
    assert json.loads(capsys.readouterr().out)["answer"] in {"trowel", "hive"}
    evaluate_prompted("own", tmp_path / "rows.jsonl", prompter, 3, True)
    figures = json.loads(capsys.readouterr().out)
    assert figures["questions"] == 3 and figures["shots"] == 2 and 0 <= figures["exact_match"] <= 1
    continue_text("i dig", str(causal_folder), 4, 0.0, 0, "cpu")
    assert capsys.readouterr().out.startswith("i dig ")


def test_a_file_is_answered_and_gone_on_with(causal_folder: Path, tmp_path: Path) -> None:
    asked, out = tmp_path / "asked.jsonl", tmp_path / "out.jsonl"
    rows = [{"id": str(n), "question": "with what ?", "choices": ["trowel", "hive"]} for n in range(3)]
    asked.write_text("".join(json.dumps(row) + "\n" for row in rows))
    predict_file(asked, out, PredictionRun("everyday", str(causal_folder), 2, "cpu"))
    whole = out.read_text().splitlines(keepends=True)
    assert [json.loads(line)["id"] for line in whole] == ["0", "1", "2"]
    out.write_text("".join(whole[:2]))
    predict_file(asked, out, PredictionRun("everyday", str(causal_folder), 2, "cpu"))
    again = out.read_text().splitlines(keepends=True)
    assert again[:2] == whole[:2] and json.loads(again[2])["answer"] == json.loads(whole[2])["answer"]


def test_what_is_missing_is_said(causal_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--examples"):
        open_prompter(str(causal_folder), 2, None, "token")
    with pytest.raises(InputError, match="--choice-score"):
        open_prompter(str(causal_folder), 0, None, "best")
    with pytest.raises(InputError, match="no causal language model"):
        continue_text("i dig", str(tmp_path), 4, 0.0, 0)
