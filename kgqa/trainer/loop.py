"""The training loop, with its optimizers and learning rates. It depends on an objective, batches and a budget, not on
the model.
"""

from __future__ import annotations

import atexit
import gc
import json
import math
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from kgqa.batch import TextBatch
from kgqa.models.devices import trim_memory
from kgqa.objectives.base import Batches, Objective
from kgqa.progress import PROGRESS_EVERY_S, bars
from kgqa.settings import write_whole
from kgqa.trainer.checkpoint import find_checkpoint, load_checkpoint, save_checkpoint, swap_folder
from kgqa.trainer.recipe import TrainerSettings
from kgqa.types import InputError


def parameter_groups(objective: nn.Module, settings: TrainerSettings) -> list[dict[str, Any]]:
    """Parameters by part (encoder, rest) and weight decay; vectors (norms, biases) are not decayed.

    Each group has `rate`, the peak learning rate, and `muon`: whether Muon trains it. Muon trains weight
    matrices except embeddings and narrow ones, such as the output layers of heads.
    """
    encoder = getattr(objective, "encoder", None)
    inside = {id(p) for p in encoder.parameters()} if isinstance(encoder, nn.Module) else set()
    embeddings = {
        id(p) for m in objective.modules() if isinstance(m, nn.Embedding) for p in m.parameters(recurse=False)
    }
    groups: dict[tuple[float, bool, float], dict[str, Any]] = {}
    for name, parameter in objective.named_parameters():
        if not parameter.requires_grad:
            continue
        matrix = parameter.ndim == 2 and "embed" not in name.lower() and min(parameter.shape) >= 16
        muon = settings.optimizer == "muon" and matrix and id(parameter) not in embeddings
        rate = (id(parameter) in inside and settings.encoder_learning_rate) or settings.learning_rate
        decay = settings.weight_decay if parameter.ndim >= 2 else 0.0
        about = {"lr": rate, "rate": rate, "muon": muon, "weight_decay": decay}
        group = groups.setdefault((rate, muon, decay), {"params": [], **about})
        group["params"].append(parameter)
    return list(groups.values())


def build_optimizers(objective: nn.Module, settings: TrainerSettings) -> list[torch.optim.Optimizer]:
    """AdamW, or Muon (Jordan et al., 2024) for weight matrices with AdamW for the rest."""
    groups = parameter_groups(objective, settings)
    muon = [group for group in groups if group["muon"]]
    adam = [group for group in groups if not group["muon"]]
    optimizers: list[torch.optim.Optimizer] = []
    fused = any(p.is_cuda for g in groups for p in g["params"])
    if adam:
        optimizers.append(torch.optim.AdamW(adam, betas=settings.betas, eps=1e-8, fused=fused or None))
    if muon:
        optimizers.append(
            torch.optim.Muon(muon, lr=settings.learning_rate, momentum=0.95, adjust_lr_fn="match_rms_adamw")
        )
    return optimizers


def factor(progress: float, settings: TrainerSettings) -> float:
    """Learning rate as a share of the peak, at `progress` 0..1 of the budget."""
    progress = min(max(progress, 0.0), 1.0)
    if settings.warmup and progress < settings.warmup:
        return max(progress / settings.warmup, 1e-3)  # the first step would have rate 0
    if settings.schedule == "linear":
        return max((1 - progress) / max(1 - settings.warmup, 1e-9), 0.0)
    if settings.schedule == "wsd" and progress > 1 - settings.decay:
        return max((1 - progress) / settings.decay, 0.0)
    return 1.0


def compile_layers(objective: nn.Module) -> None:
    """Compile each Transformer layer of the networks of an objective.

    Layers of equal shape share one compiled graph, so this takes half a minute. It fuses elementwise
    operations, whose memory traffic takes longer than the matrix products on a CPU.
    """
    from transformers.modeling_layers import GradientCheckpointingLayer

    for module in objective.modules():
        if isinstance(module, GradientCheckpointingLayer):
            module.compile(dynamic=False)


def set_rate(optimizers: list[torch.optim.Optimizer], share: float) -> None:
    """Set every group to `share` of its peak rate."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * share


# Model FLOPs utilization: operations per token, relative to the measured rate of matrix products.

COUNTED_ROWS = 4
"""Maximum number of rows on which operations are counted, so that this needs no more memory than training."""


def matrix_rate(device: torch.device, precision: str = "bf16", seconds: float = 0.1) -> float:
    """Floating-point operations per second of a large matrix product on this device, the best of several
    measurements.

    Model FLOPs utilization is relative to this, not to the vendor's peak, which ignores power limits and
    load.
    """
    from torch.utils.benchmark import Timer

    size = 8192 if device.type == "cuda" else 1024
    kind = torch.bfloat16 if precision == "bf16" else torch.float32
    a = torch.randn(size, size, device=device, dtype=kind)
    timer = Timer("a @ a", globals={"a": a}, num_threads=torch.get_num_threads())
    best: float = min(timer.blocked_autorange(min_run_time=seconds).times)
    return 2 * size**3 / best


def flops_of_token(objective: Objective, batch: Any) -> float | None:
    """Floating-point operations per token, forward and backward, counted in one pass over a few rows.

    Only matrix products (including attention) are counted, as the objective runs them: the head only at
    masked tokens, and a generator or teacher as well. None for batches that are not rows of equal length. Weights
    and counters of the objective are not changed, and no gradients are left.
    """
    from torch.utils.flop_counter import FlopCounterMode

    if not isinstance(batch, TextBatch):
        return None
    parts = {name: value[:COUNTED_ROWS] for name, value in vars(batch).items() if isinstance(value, Tensor)}
    rows = replace(batch, **parts)
    was_training = objective.training
    objective.eval()
    with FlopCounterMode(display=False) as counter:
        loss = objective(rows).total
        if loss.requires_grad:
            loss.backward()
    objective.train(was_training)
    objective.zero_grad(set_to_none=True)
    value: float = counter.get_total_flops() / rows.input_ids.numel()
    return value


Evaluate = Callable[[Objective], dict[str, float]]
Figure = tuple[str, Tensor, float]
"""Name, value and weight of a logged metric: the sum of the values divided by that of the weights is logged.

The values of the loss and its terms are shares of a step's mean, so their weights sum to 1 over the micro-batches and
processes of the step.
"""


@dataclass
class TrainResult:
    """Outcome of a run. `interrupted`: a signal ended it before its budget was spent."""

    folder: Path
    steps: int
    tokens: int
    minutes: float
    loss: float
    metrics: dict[str, float] = field(default_factory=dict)
    """Metrics of the best evaluation."""
    best: float | None = None
    interrupted: bool = False


@dataclass
class Progress:
    """Progress of a run, saved in each checkpoint. `stale` counts the evaluations since the best one."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    loss: float = math.nan
    best: float | None = None
    stale: int = 0
    stable_saved: bool = False  # whether the weights before the decay of the learning rate are saved
    finished: bool = False
    """Whether patience ran out: the run does not resume, even with a larger budget."""
    metrics: dict[str, float] = field(default_factory=dict)

    def share(self, settings: TrainerSettings) -> float:
        """Share of the budget that is spent (1 or more: all of it), by whichever limit is nearest."""
        spent = [
            self.step / settings.max_steps if settings.max_steps else 0.0,
            self.tokens / settings.max_tokens if settings.max_tokens else 0.0,
            self.seconds / (60 * settings.max_minutes) if settings.max_minutes else 0.0,
        ]
        return max(spent)


def train(
    objective: Objective,
    batches: Batches,
    settings: TrainerSettings,
    folder: Path,
    *,
    evaluate: Evaluate | None = None,
) -> TrainResult:
    """Train an objective until the budget of `settings` is spent; checkpoints, log and `export/` go to `folder`.

    Every step is a function of (weights, seed, step): an interrupted run resumes from its latest checkpoint with the
    same order of batches and the same masks, bit-identical on a CPU. SIGTERM and SIGINT save a checkpoint before the
    run ends. Raises InputError for no budget, patience without an evaluation, or a loss that is not finite.
    """
    if settings.patience and evaluate is None:
        raise InputError("trainer.patience: there is no evaluation; set held_out, development or task.dev")
    if settings.max_steps is None and settings.max_minutes is None and settings.max_tokens is None:
        raise InputError("trainer: no budget; set max_steps, max_minutes or max_tokens")
    if settings.threads:
        torch.set_num_threads(settings.threads)
    return _Run(objective, batches, settings, Path(folder), evaluate).train()


def check_measured(settings: TrainerSettings, figures: Collection[str]) -> None:
    """Raise InputError for a `best_metric` that is not among the measured figures."""
    if settings.best_metric not in figures:
        raise InputError(
            f"trainer.best_metric={settings.best_metric!r} is not measured; use one of {sorted(figures)}"
        )


def seed_everything(seed: int, step: int) -> None:
    """Seed torch's global generators for micro-batch `step`, so that masks and dropout are reproducible."""
    torch.manual_seed(int(np.random.SeedSequence([seed, step]).generate_state(1, np.uint64)[0] >> 1))


def count_tokens(batch: Any) -> int:
    """Tokens of a batch, padding included."""
    if isinstance(batch, Tensor):
        return batch.numel()
    rows = getattr(batch, "tokens", batch)
    return int(rows.input_ids.numel())


class _Run:
    """State of one training run."""

    def __init__(
        self,
        objective: Objective,
        batches: Batches,
        settings: TrainerSettings,
        folder: Path,
        evaluate: Evaluate | None,
    ) -> None:
        self.batches, self.settings, self.folder, self.evaluate = batches, settings, folder, evaluate
        self.accelerator = _accelerator(settings)
        self.main = self.accelerator.is_main_process
        objective.to(self.accelerator.device)
        self.objective = objective
        self._utilisation_of_a_token = self._measure()  # before DDP registers its hooks
        self.optimizers = build_optimizers(objective, settings)
        self.prepared, *self.wrapped = self.accelerator.prepare(objective, *self.optimizers)
        if settings.compile and self.accelerator.device.type == "cuda":
            self.prepared = torch.compile(self.prepared, dynamic=False)
        elif settings.compile:
            compile_layers(objective)
        self.prepared.train()
        self.fetch = Ahead(batches).get
        self.progress = Progress()
        self.stopping = False
        # whether a signal was received, and tokens counted, since processes were last synchronized (`_agree`)
        self._signalled, self._seen = False, 0
        # sum of all losses: not finite once one of them was
        self._lost = torch.zeros((), device=self.accelerator.device)

    def train(self) -> TrainResult:
        if found := find_checkpoint(self.folder):
            self.progress = Progress(**load_checkpoint(found, self.objective, self.optimizers))
            self._cut_log()
            if self.main and (self.progress.finished or self.progress.share(self.settings) >= 1):
                done = f"{self.folder}: trained already, {self.progress.step:,} steps"
                print(f"{done}; give a larger budget, or another --out", file=sys.stderr, flush=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self.progress.finished and self.progress.share(self.settings) < 1:
            with self._signals(), self._display() as show, self._tensorboard() as board:
                self._steps(show, board)
        end = self.progress
        summary = (end.step, end.tokens, end.seconds / 60, end.loss, end.metrics, end.best)
        return TrainResult(self.folder, *summary, self.stopping)

    def _measure(self) -> float:
        """Model FLOPs utilization (MFU) of all devices at one token per second; 0 if it is not known."""
        if not self.main:
            return 0.0
        device = self.accelerator.device
        with self.accelerator.autocast():
            flops = flops_of_token(self.objective, self.batches[0].to(device))
        if not flops:
            return 0.0
        value: float = flops / (matrix_rate(device, self.settings.precision) * self.accelerator.num_processes)
        return value

    def _steps(self, show: Callable[[str, float], None], board: Any) -> None:
        progress, settings = self.progress, self.settings
        saved = logged = time.monotonic()
        began, logged_tokens = saved - progress.seconds, progress.tokens
        found: list[Figure] = []
        words = "begun"
        while progress.share(settings) < 1 and not self.stopping:
            share = progress.share(settings)
            if settings.schedule == "wsd" and share > 1 - settings.decay and not progress.stable_saved:
                progress.stable_saved = True
                self._save("stable", export="export-stable")
            rate = factor(share, settings)
            figures, norm = self._step(rate)
            found += figures
            progress.step += 1
            progress.seconds = time.monotonic() - began
            self._agree()
            if progress.step % settings.log_every_steps == 0 or progress.share(settings) >= 1:
                self._check_loss()
                means = self._of_all(found)
                now = time.monotonic()
                speed = (progress.tokens - logged_tokens) / max(now - logged, 1e-9)
                progress.loss = means["loss"]
                extra = {"grad_norm": float(norm), "rate": rate, "tokens_per_s": round(speed)}
                if self._utilisation_of_a_token:
                    extra["mfu"] = speed * self._utilisation_of_a_token
                self._log({**means, **extra}, board)
                words = f"loss {progress.loss:.4f}  {speed:,.0f} tokens/s"
                if progress.metrics:
                    words += (
                        f"  held out: {settings.best_metric} {progress.metrics[settings.best_metric]:.3f}"
                    )
                found, logged, logged_tokens = [], now, progress.tokens
                trim_memory()
            show(words, progress.share(settings))
            if self.evaluate and progress.step % settings.evaluate_every_steps == 0:
                self._evaluate(board)
                if settings.patience and progress.stale >= settings.patience:
                    progress.finished = True
                    break
            if time.monotonic() - saved > 60 * settings.save_every_minutes:
                self._save("latest", export="export")
                saved = time.monotonic()
        if not self.stopping and self.evaluate and progress.step % settings.evaluate_every_steps:
            self._evaluate(board)
        self._save("latest", export="export")

    def _step(self, rate: float) -> tuple[list[Figure], Tensor]:
        """One optimizer step: the metrics to log, and the gradient norm.

        The micro-batches of all processes count as one batch: each term of the loss is normalized by its
        count over the whole step, not by its count in one micro-batch.
        """
        settings, accumulate = self.settings, self.settings.gradient_accumulation
        ranks, rank = self.accelerator.num_processes, self.accelerator.process_index
        set_rate(self.optimizers, rate)
        self.objective.begin_step(self.progress.step)
        first = self.progress.step * accumulate * ranks + rank
        numbers = range(first, first + accumulate * ranks, ranks)
        device = self.accelerator.device
        batches = [self.fetch(n, n + ranks).to(device, non_blocking=True) for n in numbers]
        counts = self._counts(numbers, batches) if accumulate > 1 else None
        found: list[Figure] = []
        for number, batch in zip(numbers, batches, strict=True):
            seed_everything(settings.seed, number)
            last = number == numbers[-1]
            # processes exchange gradients once a step, with the last micro-batch
            waiting = nullcontext() if last else self.accelerator.no_sync(self.prepared)
            with waiting, self.accelerator.autocast():
                loss = self.prepared(batch)
                if counts is None:
                    counts = self._reduced(loss.counts)
                total = loss.over(counts)
                self.accelerator.backward(total * ranks)  # DDP takes the mean over processes
            shares = {"loss": total, **loss.shares(counts)}
            found += [(name, value.detach(), 1 / (accumulate * ranks)) for name, value in shares.items()]
            found += [(name, value, 1.0) for name, value in loss.parts.items() if name not in shares]
            self._lost = self._lost + total.detach()
            self._seen += count_tokens(batch)
        norm = self.accelerator.clip_grad_norm_(self.objective.parameters(), settings.clip or math.inf)
        for optimizer in self.wrapped:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return found, norm

    @torch.no_grad()
    def _counts(self, numbers: Sequence[int], batches: Sequence[Any]) -> dict[str, Tensor]:
        """Normalizing counts of the loss terms for a whole step, computed ahead of the forward passes."""
        sums: dict[str, Tensor | float] = {}
        for number, batch in zip(numbers, batches, strict=True):
            seed_everything(self.settings.seed, number)
            for name, count in self.objective.counts(batch).items():
                sums[name] = sums.get(name, 0.0) + count
        return self._reduced(sums)

    def _reduced(self, counts: Mapping[str, Tensor | float]) -> dict[str, Tensor]:
        """Counts summed over all processes."""
        device = self.accelerator.device
        own = torch.stack([torch.as_tensor(c, dtype=torch.float32, device=device) for c in counts.values()])
        every = self.accelerator.reduce(own) if self.accelerator.num_processes > 1 else own
        return dict(zip(counts, every.unbind(), strict=True))

    def _of_all(self, found: Sequence[Figure]) -> dict[str, float]:
        """The sum of each metric's values over that of its weights, in all steps and processes that have it."""
        sums: dict[str, tuple[float, float]] = {}
        for name, value, weight in found:
            total, weights = sums.get(name, (0.0, 0.0))
            sums[name] = total + float(value), weights + weight
        every = [sums]
        if self.accelerator.num_processes > 1:
            from accelerate.utils import gather_object

            every = gather_object(every)
        names = dict.fromkeys(name for part in every for name in part)
        pairs = {name: [part[name] for part in every if name in part] for name in names}
        return {name: sum(t for t, _ in of) / sum(w for _, w in of) for name, of in pairs.items()}

    def _agree(self) -> None:
        """Share the main process's clock, a signal or non-finite loss of any process, and the sum of tokens,
        so that all processes stop at the same step.
        """
        if self.accelerator.num_processes == 1:
            self.stopping, self.progress.tokens = self._signalled, self.progress.tokens + self._seen
            # on a GPU, reading the loss would wait for the step to end: there it is checked when logging
            if self.accelerator.device.type == "cpu":
                self._check_loss()
        else:
            broken = float(not self._lost.isfinite())
            own = [self.progress.seconds * self.main, float(self._signalled), float(self._seen), broken]
            shared = torch.tensor(own, dtype=torch.float64, device=self.accelerator.device)
            self.progress.seconds, stopping, seen, broken = self.accelerator.reduce(shared).tolist()
            self.stopping, self.progress.tokens = bool(stopping), self.progress.tokens + int(seen)
            self._check_loss(bool(broken))
        self._seen = 0

    def _check_loss(self, broken: bool = False) -> None:
        """Stop once a loss was not finite, before anything is written; all processes exit, the main one
        raises InputError."""
        if not broken and self._lost.isfinite():
            return
        if not self.main:
            raise SystemExit(2)
        remedy = "lower trainer.learning_rate, and use another --out"
        if self.progress.step <= 1:  # before any weight was changed
            remedy = "the weights that it starts from, or the objective, give no finite loss"
        raise InputError(f"loss is not finite at step {self.progress.step}; {remedy}")

    def _evaluate(self, board: Any) -> None:
        assert self.evaluate
        self._check_loss()
        self.objective.eval()
        with torch.no_grad(), self.accelerator.autocast():
            figures = self.evaluate(self.objective)
        # use the main process's figures, so that patience runs out at the same step in all
        if self.accelerator.num_processes > 1:
            from accelerate.utils import broadcast_object_list

            (figures,) = broadcast_object_list([figures])
        self.objective.train()
        progress, name = self.progress, self.settings.best_metric
        check_measured(self.settings, figures)
        value = figures[name]
        better = progress.best is None or (
            value < progress.best if name.startswith("loss") else value > progress.best
        )
        progress.stale = 0 if better else progress.stale + 1
        self._log({f"held_out_{key}": value for key, value in figures.items()}, board)
        if better:
            progress.best, progress.metrics = value, figures
            self._save("best")

    def _save(self, name: str, export: str | None = None) -> None:
        if not self.main:
            return
        self._check_loss()
        try:
            if export:  # before the checkpoint: a run killed in between resumes from the previous checkpoint
                swap_folder(self.folder / export, self.objective.export)
            save_checkpoint(self.folder, name, self.objective, self.optimizers, vars(self.progress))
        except SafetensorError as error:  # raised by safetensors when the disk is full
            message = " ".join(str(error).split())
            raise InputError(
                f"{self.folder}: {message}; make room, and run the same command again to resume"
            ) from None

    def _log(self, figures: dict[str, float], board: Any) -> None:
        if not self.main:
            return
        progress = self.progress
        head = {"step": progress.step, "tokens": progress.tokens, "minutes": round(progress.seconds / 60, 3)}
        line = {**head, **{key: round(float(value), 6) for key, value in figures.items()}}
        with (self.folder / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        if board:
            for key, value in figures.items():
                board.add_scalar(key, value, progress.step)

    def _cut_log(self) -> None:
        """Drop log lines of steps after the checkpoint, which are run again."""
        path = self.folder / "log.jsonl"
        if self.main and path.is_file():
            # a killed run may have left its last line incomplete
            lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
            kept = [line for line in lines if json.loads(line)["step"] <= self.progress.step]
            write_whole(path, "".join(f"{line}\n" for line in kept))  # a full disk leaves the log as it was

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Context in which SIGTERM and SIGINT end the run after the current step."""

        def stop(_number: int, _frame: Any) -> None:
            self._signalled = True

        kinds = (signal.SIGTERM, signal.SIGINT)
        try:
            before = {kind: signal.signal(kind, stop) for kind in kinds}
        except ValueError:  # not in the main thread: the caller handles signals
            before = {}
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)

    @contextmanager
    def _display(self) -> Iterator[Callable[[str, float], None]]:
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

        columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %")
        with bars(*columns, TimeElapsedColumn(), disable=not self.main) as bar:
            task, shown_at = bar.add_task("training", total=1.0), time.monotonic() - PROGRESS_EVERY_S

            def show(text: str, share: float) -> None:
                nonlocal shown_at
                bar.update(task, description=text, completed=share)
                now = time.monotonic()
                if bar.disable and self.main and now - shown_at >= PROGRESS_EVERY_S:
                    shown_at = now
                    print(f"step {self.progress.step:,}, {share:.0%}: {text}", file=sys.stderr, flush=True)

            yield show

    def _tensorboard(self) -> AbstractContextManager[Any]:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return nullcontext()
        return SummaryWriter(str(self.folder))


class Ahead:
    """Prefetches the next batch in a thread while the device works on the current one."""

    def __init__(self, batches: Batches) -> None:
        self.batches = batches
        self._pool = ThreadPoolExecutor(1)
        self._next: tuple[int, Future[Any]] = (-1, Future())

    def get(self, number: int, following: int) -> Any:
        """Batch `number`; starts to prefetch batch `following`."""
        ahead, ready = self._next
        batch = ready.result() if ahead == number else self.batches[number]
        self._next = following, self._pool.submit(self.batches.__getitem__, following)
        return batch


def _accelerator(settings: TrainerSettings) -> Any:
    """The `Accelerator`; its process-wide state is reset, so that a second run in one process starts afresh."""
    from accelerate import Accelerator, DistributedDataParallelKwargs
    from accelerate.state import AcceleratorState

    if AcceleratorState._shared_state:
        AcceleratorState._reset_state(reset_partial_state=False)
    precision = "bf16" if settings.precision == "bf16" else "no"
    # poolers and frozen layers get no gradient
    unused = DistributedDataParallelKwargs(find_unused_parameters=True)
    found = Accelerator(
        cpu=not torch.cuda.is_available(), mixed_precision=precision, kwargs_handlers=[unused]
    )
    _end_with_the_process()
    return found


@cache
def _end_with_the_process() -> None:
    """Register, once per process, that the process group is destroyed at exit.

    Gloo's threads abort a process that exits while they run. Exit handlers run in reverse order: garbage is
    collected first, since it may hold the process group.
    """
    from accelerate.state import PartialState

    atexit.register(PartialState().destroy_process_group)
    atexit.register(gc.collect)
