import json
from pathlib import Path

import pytest

from kgqa.cli.train import pretrain_recipe, train_recipe
from kgqa.types import InputError

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
    reported = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert reported == {"seeds": 3, "accuracy": [0.5, 0.25]}


def test_unknown_keys_are_named(tmp_path: Path) -> None:
    (tmp_path / "toy.toml").write_text(RECIPE.format(folder=tmp_path))
    with pytest.raises(InputError, match="did you mean 'variant'"):
        pretrain_recipe(tmp_path / "toy.toml", ["encoder.varient=bert"], tmp_path / "run")


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
