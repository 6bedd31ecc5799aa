import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from support.forked import Child
from torch import Tensor, nn
from torch.nn.functional import dropout, mse_loss

from kgqa.batch import Loss, Term
from kgqa.models.encoders.variants import EncoderSettings, build_encoder
from kgqa.objectives.base import Objective
from kgqa.trainer.checkpoint import WEIGHTS, find_checkpoint
from kgqa.trainer.loop import Ahead, compile_layers, train
from kgqa.trainer.recipe import TrainerSettings
from kgqa.types import InputError


class Toy(Objective):
    """Regression with dropout: wrong seeds would show."""

    def __init__(self, stop_at: int | None = None, how: signal.Signals = signal.SIGTERM) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.encoder = nn.Linear(16, 16)
        self.head = nn.Linear(16, 1)
        self.stop_at, self.how, self.calls = stop_at, how, 0

    def forward(self, batch: Tensor) -> Loss:
        self.calls += 1
        if self.calls == self.stop_at:
            os.kill(os.getpid(), self.how)
        hidden = dropout(torch.tanh(self.encoder(batch)), 0.2, self.training)
        return Loss(mse_loss(self.head(hidden).squeeze(-1), batch.sum(1)), {"part": torch.ones(())})

    def export(self, folder: Path) -> None:
        (folder / "weights.txt").write_text(str(self.head.weight.sum().item()))


class Numbers:
    steps_per_epoch = 4

    def __getitem__(self, step: int) -> Tensor:
        return torch.randn(8, 16, generator=torch.Generator().manual_seed(step))


def started(code: str, folder: Path, environment: dict[str, str] | None = None) -> Child:
    """Runs code that uses what this file defines, and a folder, in a child."""
    ours = f"sys.path.insert(0, {str(Path(__file__).parent)!r})\nfrom test_loop import *\n"
    return Child(ours + code, environment, folder=folder)


def run_two_ranks(code: str, folder: Path) -> str:
    """Runs code in two processes as torchrun does; what they print as errors."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    ranks = [started(code, folder, shared | {"RANK": rank, "LOCAL_RANK": rank}) for rank in "01"]
    return "".join(rank.end()[1] for rank in ranks)


def settings(**values: Any) -> TrainerSettings:
    return TrainerSettings(**{"max_steps": 12, "precision": "fp32", "log_every_steps": 1, **values})


def weights(folder: Path) -> dict[str, Tensor]:
    found = find_checkpoint(folder)
    assert found
    return load_file(found / WEIGHTS)


def logged(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def same(a: dict[str, Tensor], b: dict[str, Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a)


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_two_halves_equal_one_run_to_the_last_bit(optimizer: str, tmp_path: Path) -> None:
    train(Toy(), Numbers(), settings(optimizer=optimizer), tmp_path / "one")
    first = train(Toy(stop_at=5), Numbers(), settings(optimizer=optimizer), tmp_path / "two")
    assert first.interrupted and first.steps == 5
    second = train(Toy(), Numbers(), settings(optimizer=optimizer), tmp_path / "two")
    assert not second.interrupted and second.steps == 12
    assert same(weights(tmp_path / "one"), weights(tmp_path / "two"))
    one, two = logged(tmp_path / "one"), logged(tmp_path / "two")
    assert [x["loss"] for x in one] == [x["loss"] for x in two]


def test_kill_9_goes_on_from_the_latest(tmp_path: Path) -> None:
    train(Toy(), Numbers(), settings(), tmp_path / "one")
    script = "train(Toy(9, signal.SIGKILL), Numbers(), settings(save_every_minutes=1e-9), folder)"
    code, errors = started(script, tmp_path / "two").end()
    assert code == -signal.SIGKILL, errors
    result = train(Toy(), Numbers(), settings(), tmp_path / "two")
    assert result.steps == 12
    assert same(weights(tmp_path / "one"), weights(tmp_path / "two"))


def test_what_was_killed_at_its_last_export_is_exported_when_run_again(tmp_path: Path) -> None:
    class Killed(Toy):
        def export(self, folder: Path) -> None:
            raise SystemExit

    with pytest.raises(SystemExit):
        train(Killed(), Numbers(), settings(), tmp_path)
    assert not (tmp_path / "export").exists()
    train(Toy(), Numbers(), settings(), tmp_path)
    exported = tmp_path / "export" / "weights.txt"
    reported = exported.read_text()
    exported.write_text("fitted since")
    train(Toy(), Numbers(), settings(), tmp_path)
    assert reported and exported.read_text() == "fitted since", "a training that is done is left as it is"


def test_a_full_disk_is_one_line_and_the_run_goes_on_from_what_is_whole(tmp_path: Path) -> None:
    train(Toy(), Numbers(), settings(log_every_steps=100), tmp_path / "one")
    train(Toy(stop_at=5), Numbers(), settings(log_every_steps=100), tmp_path / "two")
    script = (
        "import resource; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n"
        "try: train(Toy(), Numbers(), settings(log_every_steps=100), folder)\n"
        "except InputError as error: print(error, file=sys.stderr)"
    )
    _, errors = started(script, tmp_path / "two").end()
    *progress, last = errors.splitlines()
    assert "make room" in last and all(line.startswith("step ") for line in progress), errors
    assert train(Toy(), Numbers(), settings(log_every_steps=100), tmp_path / "two").steps == 12
    assert same(weights(tmp_path / "one"), weights(tmp_path / "two"))


def test_loss_falls_and_export_is_there(tmp_path: Path) -> None:
    result = train(Toy(), Numbers(), settings(max_steps=60, learning_rate=3e-2), tmp_path)
    log = logged(tmp_path)
    losses = [line["loss"] for line in log]
    assert sum(losses[-20:]) < 0.9 * sum(losses[:20]) and log[-1]["tokens"] == 60 * 128 == result.tokens
    assert {"step", "minutes", "rate", "tokens_per_s", "grad_norm", "part"} <= log[0].keys()
    assert (tmp_path / "export" / "weights.txt").exists()
    again = train(Toy(), Numbers(), settings(max_steps=60, learning_rate=3e-2), tmp_path)
    assert again.steps == 60 and again.loss == result.loss
    longer = train(Toy(), Numbers(), settings(max_steps=65, learning_rate=3e-2), tmp_path)
    assert longer.steps == 65


def test_accumulation_is_a_larger_batch(tmp_path: Path) -> None:
    class Still(Toy):
        def forward(self, batch: Tensor) -> Loss:
            return Loss(mse_loss(self.head(torch.tanh(self.encoder(batch))).squeeze(-1), batch.sum(1)))

    train(Still(), Numbers(), settings(max_steps=3, gradient_accumulation=2), tmp_path / "a")
    train(Still(), Together(Numbers()), settings(max_steps=3), tmp_path / "b")
    one, two = weights(tmp_path / "a"), weights(tmp_path / "b")
    assert all(torch.allclose(one[k], two[k], atol=1e-5) for k in one)


def test_an_objective_is_told_optimizer_steps_not_batches(tmp_path: Path) -> None:
    reported: list[int] = []

    class Counting(Toy):
        def begin_step(self, step: int) -> None:
            reported.append(step)

    train(Counting(), Numbers(), settings(max_steps=2, gradient_accumulation=4), tmp_path)
    train(Counting(), Numbers(), settings(max_steps=4, gradient_accumulation=4), tmp_path)
    assert reported == [0, 1, 2, 3]


def test_best_and_patience(tmp_path: Path) -> None:
    figures = iter([3.0, 1.0, 2.0, 2.0, 2.0, 0.5])

    def evaluate(objective: Objective) -> dict[str, float]:
        assert not objective.training and not torch.is_grad_enabled()
        return {"loss": next(figures)}

    options = settings(max_steps=100, evaluate_every_steps=2, patience=2)
    result = train(Toy(), Numbers(), options, tmp_path, evaluate=evaluate)
    assert result.steps == 8 and result.best == 1.0
    best = find_checkpoint(tmp_path, "best")
    assert best and best.name.endswith("04")
    with pytest.raises(InputError, match="best_metric"):
        train(Toy(), Numbers(), settings(best_metric="f1"), tmp_path / "x", evaluate=lambda _: {"loss": 1.0})


def test_patience_wants_something_measured(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"trainer\.patience: there is no evaluation"):
        train(Toy(), Numbers(), settings(max_steps=3, patience=2), tmp_path)


def test_a_higher_metric_is_better(tmp_path: Path) -> None:
    figures = iter([0.3, 0.7, 0.5])
    options = settings(max_steps=6, evaluate_every_steps=2, best_metric="f1")
    assert train(Toy(), Numbers(), options, tmp_path, evaluate=lambda _: {"f1": next(figures)}).best == 0.7


def test_budgets_and_stable_checkpoint(tmp_path: Path) -> None:
    assert train(Toy(), Numbers(), settings(max_steps=None, max_tokens=128 * 7), tmp_path / "t").steps == 7
    result = train(Toy(), Numbers(), settings(max_steps=None, max_minutes=0.002), tmp_path / "m")
    assert result.steps > 0 and result.minutes >= 0.002
    train(Toy(), Numbers(), settings(schedule="wsd", decay=0.5), tmp_path / "w")
    stable = find_checkpoint(tmp_path / "w", "stable")
    assert stable and stable.name.endswith("07")
    assert (tmp_path / "w" / "export-stable" / "weights.txt").exists()
    with pytest.raises(InputError, match="no budget"):
        train(Toy(), Numbers(), TrainerSettings(), tmp_path / "n")


def test_bf16_and_a_loss_gone_wrong(tmp_path: Path) -> None:
    class Broken(Toy):
        def forward(self, batch: Tensor) -> Loss:
            return Loss(super().forward(batch).total * float("nan"))

    assert train(Toy(), Numbers(), settings(precision="bf16"), tmp_path / "b").steps == 12
    with pytest.raises(InputError, match="not finite at step 1; the weights that it starts from"):
        train(Broken(), Numbers(), settings(), tmp_path / "n")


class Uneven:
    steps_per_epoch = 4

    def __getitem__(self, step: int) -> Tensor:
        return torch.ones(8 + 24 * (step % 2), 16)


def train_one_of_two(folder: Path, stop_at: int) -> None:
    """In a rank; the second is told to stop at a step."""
    rank = int(os.environ["RANK"])
    how = {"max_steps": None, "max_tokens": 128 * 40, "evaluate_every_steps": 3, "save_every_minutes": 1e-9}
    toy = Toy(stop_at if rank else None)
    result = train(toy, Uneven(), settings(**how), folder, evaluate=lambda _: {"loss": 1.0 + rank})
    told = [result.steps, result.tokens, result.interrupted, result.best]
    (folder / f"told-{rank}.json").write_text(json.dumps(told))


TWO = """
import sys
sys.path[:0] = sys.argv[2:]
from test_loop import *
train_one_of_two(Path(sys.argv[1]), 3)
"""


def test_two_processes_stop_together_and_go_on(tmp_path: Path) -> None:
    def told() -> list[object]:
        return [json.loads((tmp_path / f"told-{rank}.json").read_text()) for rank in (0, 1)]

    (tmp_path / "two.py").write_text(TWO)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += [str(tmp_path / "two.py"), str(tmp_path), *map(str, Path(__file__).parents[:2])]
    run = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stderr
    assert "destroy_process_group" not in run.stderr
    assert told() == [[3, 3 * 640, True, 1.0]] * 2
    errors = run_two_ranks("train_one_of_two(folder, 0)", tmp_path)
    assert told() == [[8, 8 * 640, False, 1.0]] * 2, errors


class Counting(Toy):
    """Means over words, of which batches hold more or less."""

    def forward(self, batch: Tensor) -> Loss:
        guess = self.head(torch.tanh(self.encoder(batch))).squeeze(-1)
        return Loss.summed({"words": Term((guess - batch.sum(1)).square().sum(), float(len(batch)))})

    def counts(self, batch: Tensor) -> dict[str, float | Tensor]:
        return {"words": float(len(batch))}


class Words:
    """Batches of 12 and of 2."""

    steps_per_epoch = 4

    def __getitem__(self, step: int) -> Tensor:
        rows = 2 if step % 2 else 12
        return torch.randn(rows, 16, generator=torch.Generator().manual_seed(step))


class Together:
    """Every two batches as one."""

    steps_per_epoch = 2

    def __init__(self, batches: Numbers | Words) -> None:
        self.batches = batches

    def __getitem__(self, step: int) -> Tensor:
        return torch.cat([self.batches[2 * step], self.batches[2 * step + 1]])


def test_micro_batches_weigh_by_what_they_count(tmp_path: Path) -> None:
    train(Counting(), Words(), settings(max_steps=3, gradient_accumulation=2), tmp_path / "two")
    train(Counting(), Together(Words()), settings(max_steps=3), tmp_path / "one")
    two, one = weights(tmp_path / "two"), weights(tmp_path / "one")
    assert all(torch.allclose(two[name], one[name], atol=1e-5) for name in one)
    for ours, theirs in zip(logged(tmp_path / "two"), logged(tmp_path / "one"), strict=True):
        for name in ("loss", "words", "grad_norm"):
            assert ours[name] == pytest.approx(theirs[name], rel=1e-4)


RANKS = "train(Counting(), Words(), settings(max_steps=3), folder)"


def test_ranks_weigh_by_what_they_count_and_the_log_is_of_all(tmp_path: Path) -> None:
    errors = run_two_ranks(RANKS, tmp_path / "two")
    assert (tmp_path / "two" / "log.jsonl").exists(), errors
    train(Counting(), Together(Words()), settings(max_steps=3), tmp_path / "one")
    two, one = weights(tmp_path / "two"), weights(tmp_path / "one")
    assert all(torch.allclose(two[name], one[name], atol=1e-5) for name in one)
    ours, theirs = logged(tmp_path / "two"), logged(tmp_path / "one")
    assert [x["loss"] for x in ours] == pytest.approx([x["loss"] for x in theirs], rel=1e-4)


BROKEN = """
class Broken(Counting):
    def forward(self, batch):
        self.calls += 1
        loss = super().forward(batch)
        if int(os.environ["RANK"]) == 1 and self.calls == 3:
            return Loss.summed({"words": Term(loss.terms["words"].total * float("inf"), 2.0)})
        return loss

try:
    train(Broken(), Words(), settings(save_every_minutes=1e-9, log_every_steps=100), folder)
except InputError as error:
    said = f"ONE LINE: {error}"
except SystemExit as end:
    said = f"SILENT: {end}"
# a file for each rank: lines that two processes print at once run into each other
Path(f"{folder}{os.environ['RANK']}").write_text(said)
"""


def test_a_loss_that_is_not_finite_stops_all_ranks_with_one_line(tmp_path: Path) -> None:
    errors = run_two_ranks(BROKEN, tmp_path / "run")
    said = sorted((tmp_path / f"run{rank}").read_text() for rank in (0, 1))
    assert said[0].startswith("ONE LINE: loss is not finite at step 3"), errors
    assert said[1] == "SILENT: 2"
    kept = find_checkpoint(tmp_path / "run")
    assert kept and kept.name.endswith("2"), "the last that is whole"
    assert all(value.isfinite().all() for value in weights(tmp_path / "run").values())


def test_tensorboard_gets_what_the_log_gets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[tuple[str, int]] = []

    class SummaryWriter:
        def __init__(self, folder: str) -> None:
            self.folder = folder

        def __enter__(self) -> "SummaryWriter":
            return self

        def __exit__(self, *_: object) -> None: ...

        def add_scalar(self, key: str, _value: float, step: int) -> None:
            written.append((key, step))

    board = ModuleType("torch.utils.tensorboard")
    board.SummaryWriter = SummaryWriter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", board)
    train(Toy(), Numbers(), settings(max_steps=2), tmp_path)
    assert ("loss", 1) in written and ("tokens_per_s", 2) in written
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    assert train(Toy(), Numbers(), settings(max_steps=2), tmp_path / "without").steps == 2
    monkeypatch.setattr(Toy, "forward", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError) as error:
        train(Toy(), Numbers(), settings(max_steps=2), tmp_path / "broken")
    assert error.value.__context__ is None, "the traceback is that of the objective alone"


def test_batches_made_ahead_are_the_same() -> None:
    ahead = Ahead(Numbers())
    for number in (0, 1, 2, 7, 8):
        assert torch.equal(ahead.get(number, number + 1), Numbers()[number])


def test_each_layer_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling itself needs a C++ compiler, so what would compile is recorded."""
    compiled: list[nn.Module] = []
    monkeypatch.setattr(nn.Module, "compile", lambda module, **_options: compiled.append(module))
    size = {"hidden_size": 32, "num_hidden_layers": 3, "intermediate_size": 64}
    encoder: Any = build_encoder(EncoderSettings(**size), vocab_size=100)
    compile_layers(encoder)
    assert compiled == list(encoder.layers)
