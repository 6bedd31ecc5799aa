from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from kgqa.cli.train import adapt_reader, answer_types, pretrain_recipe, train_recipe
from kgqa.settings import GRAPH_SUITE
from kgqa.types import Example, InputError, Question

RECIPE = """
name = "toy"
[encoder]
hidden_size = 16
num_hidden_layers = 1
num_attention_heads = 1
intermediate_size = 16
[tokenizer]
vocab_size = 320
[data]
folder = "{folder}"
held_out = 0.0
sequence_tokens = 16
batch_rows = 4
[data.sources]
text = 1.0
[trainer]
max_steps = 2
"""


def test_an_unknown_recipe_key_is_named_with_its_neighbour(tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text('name = "x"\n[[data]]\nname = "synthesis"\n')
    with pytest.raises(InputError, match="max_nodes"):
        train_recipe(recipe, ["input.max_nodez=3"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5_000 + "]" * 5_000,
        "a." * 3_000 + "b = 1",
        "a = " + "9" * 5_000,
        "reasoner.n" + "9" * 5_000 + " = 1",
    ],
)
def test_a_recipe_deep_or_endless_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.toml").write_text(text)
    with pytest.raises(InputError) as refused:
        train_recipe(tmp_path / "r.toml", [], tmp_path / "out")
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 2_000


def test_a_recipe_becomes_an_encoder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.txt").write_text(
        "\n\n".join(f"Day {n} was fine. We dug the garden." for n in range(900))
    )
    (tmp_path / "toy.toml").write_text(RECIPE.format(folder=tmp_path))
    pretrain_recipe(tmp_path / "toy.toml", ["trainer.max_steps=3"], tmp_path / "run")
    assert (tmp_path / "run" / "export" / "model.safetensors").exists()
    assert "done: 3 steps" in capsys.readouterr().out
    pretrain_recipe(tmp_path / "toy.toml", ["trainer.max_steps=2"], tmp_path / "run")
    assert "trained already, 3 steps; give a larger budget" in capsys.readouterr().err


def test_one_of_several_processes_speaks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from kgqa.trainer import pretraining

    done = pretraining.TrainResult(tmp_path, 1, 1, 0.0, 1.0)
    monkeypatch.setattr(pretraining, "run_recipe", lambda *_: done)
    (tmp_path / "toy.toml").write_text(RECIPE.format(folder=tmp_path))
    for rank, output in (("1", ""), ("0", "done: 1 steps")):
        monkeypatch.setenv("RANK", rank)
        pretrain_recipe(tmp_path / "toy.toml", [], tmp_path / "run")
        out = capsys.readouterr().out
        assert out.startswith(output) and bool(out) == bool(output)


def test_a_signal_ends_a_training_with_its_own_code_and_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from kgqa.cli import main
    from kgqa.trainer import pretraining
    from kgqa.trainer.finetuning import classifier
    from kgqa.trainer.finetuning import reader as reader_module

    stopped = pretraining.TrainResult(tmp_path, 1, 1, 0.0, 1.0, interrupted=True)
    monkeypatch.setattr(pretraining, "run_recipe", lambda *_: stopped)
    monkeypatch.setattr(reader_module, "train_reader", lambda *_: stopped)
    monkeypatch.setattr(classifier, "train_task", lambda *_: stopped)
    (tmp_path / "toy.toml").write_text(RECIPE.format(folder=tmp_path))
    (tmp_path / "reader.toml").write_text('[[data]]\nname = "synthesis"\n')
    (tmp_path / "task.toml").write_text('[task]\nkind = "pair"\ntrain = "x"\n')
    for command in (["pretrain", "toy"], ["train", "reader"], ["train", "task"]):
        monkeypatch.setattr("sys.argv", ["kgqa", command[0], str(tmp_path / f"{command[1]}.toml")])
        with pytest.raises(SystemExit) as ended:
            main.run()
        output = capsys.readouterr()
        assert ended.value.code == 130
        assert "interrupted; run the same command again to resume" in output.err and not output.out


def test_several_seeds_tell_mean_and_spread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from kgqa.trainer.finetuning import reader as reader_module
    from kgqa.trainer.finetuning.reader import ReaderRecipe
    from kgqa.trainer.loop import TrainResult

    def train(recipe: ReaderRecipe, folder: Path) -> TrainResult:
        figures = {"accuracy": 0.25 * recipe.trainer.seed}
        return TrainResult(folder, 1, 1, 0.0, 1.0, figures)

    monkeypatch.setattr(reader_module, "train_reader", train)
    (tmp_path / "reader.toml").write_text('[[data]]\nname = "synthesis"\n[trainer]\nseed = 1\n')
    train_recipe(tmp_path / "reader.toml", [], tmp_path / "run", seeds=3)
    output = capsys.readouterr().out.splitlines()
    assert [
        str(tmp_path / "run" / f"seed-{n}" / "export") in line for n, line in enumerate(output[:3], 1)
    ] == [True] * 3
    assert output[-1] == "3 seeds: accuracy 0.500 ± 0.250"
    train_recipe(tmp_path / "reader.toml", [], tmp_path / "run", seeds=3, as_json=True)
    written = capsys.readouterr()
    assert json.loads(written.out) == {"seeds": 3, "accuracy": [0.5, 0.25]}
    assert "export: 1 steps, loss 1.000; held out: accuracy 0.250" in written.err


def test_each_kind_of_recipe_says_what_it_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from kgqa.trainer.finetuning import fact_encoder as fact_encoder_module
    from kgqa.trainer.loop import TrainResult

    monkeypatch.setattr(
        fact_encoder_module, "train_retriever", lambda _, folder: TrainResult(folder, 1, 1, 0.0, 1.0)
    )
    (tmp_path / "facts.toml").write_text('[retriever]\ndata = ["csqa-open-train"]\n')
    train_recipe(tmp_path / "facts.toml", [], tmp_path / "run")
    output = capsys.readouterr().out
    assert output.startswith(f"the retriever is in {tmp_path / 'run' / 'export'}")
    assert f"input.fact_encoder={tmp_path / 'run' / 'export'}" in output
    train_recipe(tmp_path / "facts.toml", [], tmp_path / "run", seeds=2)
    assert "2 seeds: there was no evaluation" in capsys.readouterr().out


def test_a_recipe_of_another_command_is_told_as_that(tmp_path: Path) -> None:
    (tmp_path / "pretrain.toml").write_text(RECIPE.format(folder=tmp_path))
    (tmp_path / "train.toml").write_text('[[data]]\nname = "synthesis"\n[reasoner]\nname = "fused"\n')
    (tmp_path / "alike.toml").write_text('encoder.folder = "kgqa-small"\ntrainer.max_steps = 2\n')
    for command, name, meant in (
        (train_recipe, "pretrain", "kgqa pretrain"),
        (pretrain_recipe, "train", "kgqa train"),
        (pretrain_recipe, "alike", "kgqa train"),  # by keys within tables that both have
    ):
        with pytest.raises(InputError, match=f"a recipe of `{meant}`; write {meant}"):
            command(tmp_path / f"{name}.toml")


def test_a_key_is_likened_to_one_that_is_near_alone(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text('[[data]]\nname = "synthesis"\n')
    with pytest.raises(InputError, match="unknown key 'zzqx'$"):
        train_recipe(tmp_path / "r.toml", ["zzqx=1"], tmp_path / "out")


# `kgqa adapt` at its smallest.


def test_the_command_reports_before_and_after(
    tmp_path: Path, model_folder: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    films = str(GRAPH_SUITE / "films.ttl")
    out = tmp_path / "adapted"
    adapt_reader(films, str(model_folder), out, 1.0, 24, 2, "cpu", False)
    shown = capsys.readouterr().out
    assert "before" in shown and str(out / "export") in shown
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert report["trained_on"] == 24 and report["before"]["all"][1] == report["after"]["all"][1] > 0
    card = json.loads((out / "export" / "reader.json").read_text(encoding="utf-8"))
    assert card["name"].endswith("adapted to films")
    with pytest.raises(InputError, match="already"):
        adapt_reader(films, str(model_folder), out, 1.0, 24, 2, "cpu", False)


# `kgqa train --data`: what is told on the way, and the last line.


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "mine.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["question", "passage", "choices", "answer"])
        for n in range(40):
            out.writerow([f"What did {n} dig with?", "", "trowel|excavator", "trowel"])
    return path


def test_a_table_of_questions_trains_a_reader_and_tells_before_and_after(
    table: Path, model_folder: Path, tools_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"data": table, "graph": str(tools_file), "model": str(model_folder), "out": tmp_path / "run"}
    train_recipe(Path("trainer.max_steps=3"), ["trainer.precision=fp32"], **given)  # type: ignore[arg-type]
    output = capsys.readouterr()
    assert re.search(
        r"40 rows read \(choice 40\); \d+ are held out, \d+ train model over the graph .*for 3 steps",
        output.err,
    )
    assert "before: " in output.err and re.search(r"step 1, 33%: ", output.err)
    last = output.out.strip().splitlines()[-1]
    assert re.fullmatch(r"before \d+ %, after \d+ % on \d+ held-out rows", last)
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert report["rows"] + report["held_out"] == 40 and 0 <= report["after"] <= 1
    assert (tmp_path / "run" / "export" / "reader.json").exists()


def test_yes_and_no_are_a_type_of_answer() -> None:
    question = Question("Did Ann ring?", passage="Ann rang.")
    rows = [Example(question, yes_no_label=True), Example(question), Example(question, yes_no_label=False)]
    assert answer_types(rows) == "yes/no 2, none 1"


def test_what_does_not_go_together_is_refused_in_a_line(table: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    for given, output in (
        ({"recipe": recipe, "data": table}, "sets its data itself"),
        ({"recipe": Path("trainer.max_steps"), "data": table}, "write KEY=VALUE"),
        ({"data": table, "graph": "evryday"}, "did you mean 'everyday'?"),
        ({"data": table, "seeds": 2}, "--seeds is for a recipe"),
        ({"recipe": recipe, "minutes": 2.0}, "--minutes is for --data"),
        ({"recipe": recipe, "graph": "x"}, "--graph is for --data"),
        ({}, "give a recipe, or your questions with --data FILE"),
        ({"recipe": table}, f"write kgqa train --data {table}"),
        ({"data": tmp_path / "none.csv"}, "no such file"),
    ):
        with pytest.raises(InputError, match=re.escape(output)):
            train_recipe(**given)  # type: ignore[arg-type]


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_measured(
    table: Path, model_folder: Path, tools_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgqa.cli.train._right", lambda *_: pytest.fail("measured"))
    given = {"data": table, "graph": str(tools_file), "model": str(model_folder), "out": table}
    with pytest.raises(FileExistsError):
        train_recipe(**given)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="did you mean 'qagnn'"):
        train_recipe(Path("reasoner.name=qagn"), **given)  # type: ignore[arg-type]
