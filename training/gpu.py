"""Train on a lent GPU machine without network, in three commands.

At home: `python training/gpu.py prepare RECIPE.toml [KEY=VALUE ...]` writes parcels that the machine can take.
On the machine, once for each parcel that arrives: `python3 gpu.py train PARCELS --left SECONDS --out OUT`. With the
last one it trains for what is left of the clock, and writes the weights to OUT in parts; run again, it resumes.
At home again: `python training/gpu.py home PARTS ... --out FOLDER` makes of the parts a folder that opens as a model.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile
from collections import defaultdict
from dataclasses import fields
from itertools import count
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MIB = 1 << 20
PARCEL = 60 * MIB
"""Bytes of a parcel: what one command takes to the machine, with room for the manifest and this file."""
PART, PARTS = 15 * MIB, 4
"""Bytes of a part that comes home, and how many one command gives back."""
CODE = ("kgqa", "graph_data/*.toml", "training/gpu.py", "training/pack.py")
"""What the machine needs of the checkout."""
WHEELS = ("pydantic", "pydantic-core", "annotated-types", "typing-inspection")
"""What the machine lacks, in the versions of this environment."""
EXPORT = 45
"""Seconds from the last step to the parts: checkpoint, export, packing."""
MANIFEST, RECIPE = "manifest.json", "recipe.json"


# Tensors of a batch on disk: the narrowest integers that hold them, and half precision.


def save_batch(batch: Any, path: Path) -> None:
    """Write a `QABatch` as safetensors."""
    import numpy as np
    import torch
    from safetensors.numpy import save_file

    def narrow(value: torch.Tensor) -> Any:
        if value.is_floating_point() or value.dtype is torch.bool:
            return (value.half() if value.is_floating_point() else value).numpy()
        ends = (int(value.min()), int(value.max())) if value.numel() else (0, 0)
        fitting = (kind for kind in (np.uint8, np.int8, np.uint16, np.int16) if _holds(np.iinfo(kind), *ends))
        return value.numpy().astype(next(fitting, np.int32))

    named = {"num_questions": torch.tensor([batch.num_questions]), **_tensors(batch)}
    save_file({name: np.ascontiguousarray(narrow(value)) for name, value in named.items()}, path)


def _holds(kind: Any, low: int, high: int) -> bool:
    return bool(kind.min <= low and high <= kind.max)


def _tensors(batch: Any, prefix: str = "") -> dict[str, Any]:
    """The tensors of a batch by dotted names."""
    from torch import Tensor

    found: dict[str, Any] = {}
    for item in fields(batch):
        value = getattr(batch, item.name)
        if isinstance(value, Tensor):
            found[prefix + item.name] = value
        elif value is not None and not isinstance(value, int):
            found |= _tensors(value, f"{item.name}.")
    return found


def load_batch(path: Path) -> Any:
    """The `QABatch` of a file."""
    import numpy as np
    import torch
    from safetensors.numpy import load_file

    from kgqa.batch import Gold, GraphBatch, PackedCandidates, QABatch, TokenBatch

    wide = {"f": np.float32, "b": np.bool_}
    tables: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for name, value in load_file(path).items():
        table, _, column = name.rpartition(".")
        tables[table][column] = torch.from_numpy(value.astype(wide.get(value.dtype.kind, np.int64)))
    own, kinds = (
        tables.pop(""),
        {"tokens": TokenBatch, "graph": GraphBatch, "gold": Gold, "packed": PackedCandidates},
    )
    number = int(own.pop("num_questions"))
    return QABatch(num_questions=number, **own, **{name: kinds[name](**of) for name, of in tables.items()})


class StoredBatches:
    """Batches from files: in the order of the mixture the first time, then shuffled."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.files, self.seed = sorted(folder.glob("*.safetensors")), seed
        self.steps_per_epoch = len(self.files)

    def __getitem__(self, step: int) -> Any:
        import numpy as np

        lap, place = divmod(step, len(self.files))
        order = np.random.default_rng([self.seed, lap]).permutation(len(self.files)) if lap else None
        return load_batch(self.files[place if order is None else order[place]])


# At home: from a recipe to parcels.


def prepare(asked: argparse.Namespace) -> None:
    """Write parcels of at most `PARCEL` bytes, with a manifest of their checksums and this file, to `asked.out`."""
    began = time.monotonic()
    values = tomllib.loads(asked.recipe.read_text(encoding="utf-8"))
    read = _reader if isinstance(values.get("data"), list) else _encoder
    out: Path = asked.out
    out.mkdir(parents=True, exist_ok=True)
    recipe, contents = read(asked, out)
    (out / RECIPE).write_text(json.dumps(recipe), encoding="utf-8")
    contents |= {path.relative_to(ROOT).as_posix(): path for pattern in CODE for path in ROOT.glob(pattern)}
    contents |= {"site": _wheels(asked, out)} if asked.python else {}
    whole = out / "whole.tar.xz"
    # of text in order: a wide dictionary finds what a question's other batches hold of it
    kind = {"id": lzma.FILTER_LZMA2, "preset": 4, "dict_size": 64 * MIB}
    with lzma.open(whole, "wb", filters=[kind]) as packed, tarfile.open(fileobj=packed, mode="w|") as tar:
        for name, path in {**contents, RECIPE: out / RECIPE}.items():
            print(f"packing {name}", file=sys.stderr, flush=True)
            tar.add(path, name, filter=lambda info: None if "__pycache__" in info.name else info)
    for old in out.glob("parcel-*"):
        old.unlink()
    sums = split(whole, out, "parcel", PARCEL)
    whole.unlink()
    _write_manifest(out, sums)
    shutil.copy(__file__, out / "gpu.py")
    print(f"{out}: {len(sums)} parcels, {_size(out, sums):.1f} MiB, in {time.monotonic() - began:.0f} s")


def _reader(asked: argparse.Namespace, out: Path) -> tuple[dict[str, Any], dict[str, Path]]:
    """The resolved recipe of a reader's training, and its files: weights in 8 bits, and collated batches."""
    from kgqa.fingerprint import fingerprint
    from kgqa.models import collation
    from kgqa.models.collation.collate import Collator
    from kgqa.settings import cache_folder, find_encoder
    from kgqa.trainer.data.mixture import MixedBatches, cache_key, check_uses, data_hashes
    from kgqa.trainer.finetuning import reader as training
    from kgqa.trainer.loop import count_tokens
    from kgqa.trainer.recipe import load_recipe
    from kgqa.types import InputError

    recipe = load_recipe(asked.recipe, asked.overrides, training.ReaderRecipe)
    if beside := [n for n in ("teacher", "entities", "development", "held_out") if getattr(recipe, n)]:
        raise InputError(f"{beside[0]}: does not travel; leave it out of the recipe")
    pack(find_encoder(recipe.encoder.folder), out / "start")
    data = [s.model_copy(update={"batch_questions": asked.times * s.batch_questions}) for s in recipe.data]
    recipe = recipe.model_copy(update={"data": data})
    located = recipe.located()
    check_uses(located.data)
    reader, tokenizer, folder = training.build(recipe)
    longest = min(recipe.input.max_tokens, reader.layerwise.max_tokens)
    reading = recipe.input.model_copy(update={"max_tokens": longest})
    shares = (recipe.trainer.seed, recipe.paraphrase, recipe.graph_dropout)
    key = fingerprint(
        located.data,
        reading,
        *shares,
        collation,
        folder / "tokenizer.json",
        cache_key([], str(data_hashes(located.data))),
    )
    batches = out / f"batches-{key}"
    for other in set(out.glob("batches-*")) - {batches}:
        shutil.rmtree(other)
    batches.mkdir(exist_ok=True)
    parts = [training.prepare(settings, recipe, cache_folder("subgraphs")) for settings in located.data]
    mixed = MixedBatches(parts, Collator(tokenizer, reading), *shares)
    tokens, told = 0, time.monotonic()
    for step in count():
        path = batches / f"{step:06}.safetensors"
        if not path.exists():
            save_batch(mixed[step], path.with_suffix(".part"))
            os.replace(path.with_suffix(".part"), path)
        tokens += count_tokens(load_batch(path))
        if tokens >= asked.tokens or time.monotonic() - told > 10:
            told = time.monotonic()
            print(
                f"collated {tokens / 1e6:.2f} of {asked.tokens / 1e6:g} million tokens",
                file=sys.stderr,
                flush=True,
            )
        if tokens >= asked.tokens:
            break
    for late in sorted(batches.iterdir())[step + 1 :]:
        late.unlink()
    there = recipe.encoder.model_copy(update={"folder": "start"})
    values = recipe.model_copy(update={"encoder": there}).model_dump(mode="json")
    return {"reader": values}, {"start": out / "start", "batches": batches}


def _encoder(asked: argparse.Namespace, out: Path) -> tuple[dict[str, Any], dict[str, Path]]:
    """The resolved recipe of a pretraining, and its files: tokenized shards, and the weights it starts from."""
    from kgqa.settings import data_path
    from kgqa.trainer.pretraining import PretrainingRecipe, find_objective, prepare_corpus
    from kgqa.trainer.recipe import load_recipe
    from kgqa.types import InputError

    recipe = load_recipe(asked.recipe, asked.overrides, PretrainingRecipe)
    if (
        recipe.objective.teacher
        or recipe.data.entities
        or find_objective(recipe.objective.name).reads == "subgraphs"
    ):
        raise InputError(
            f"objective.name={recipe.objective.name!r}: its teacher or graph does not travel; use another"
        )
    corpus, _ = prepare_corpus(recipe, out)
    values = recipe.model_dump(mode="json")
    values["data"]["corpus"] = "corpus"
    found = {"corpus": corpus.folder}
    if recipe.tokenizer.folder:
        values["tokenizer"]["folder"] = "corpus"
    if recipe.start:
        halve(data_path(recipe.start), out / "start")
        values["start"], found["start"] = "start", out / "start"
    return {"encoder": values}, found


def _wheels(asked: argparse.Namespace, out: Path) -> Path:
    """A folder with the packages that the machine lacks, for its version of Python, downloaded once."""
    from importlib.metadata import version

    site, wheels = out / f"site-{asked.python}", out / "wheels"
    if not site.is_dir():
        named = [f"{name}=={version(name)}" for name in WHEELS]
        platforms = [f"--platform={kind}_x86_64" for kind in ("manylinux_2_17", "manylinux2014")]
        only = ["--only-binary=:all:", "--no-deps", f"--python-version={asked.python}", *platforms]
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "-d", wheels, *only, *named], check=True
        )
        for wheel in wheels.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(site.with_suffix(".part"))
        os.replace(site.with_suffix(".part"), site)
        shutil.rmtree(wheels)
    return site


# On the machine: parcels in, weights out.


def train(asked: argparse.Namespace) -> None:
    """Take the parcels in; if none is missing, train for what is left of the clock and write the weights in parts."""
    began = time.monotonic()
    left = asked.left if asked.left is not None else asked.began + asked.clock - time.time()
    work = received(asked.parcels, asked.work)
    if work is None:
        return
    content, run, out = work / "content", work / "run", asked.out.resolve()
    sys.path.insert(0, str(content))
    sys.path.append(str(content / "site"))  # the machine's own packages come first
    os.environ.setdefault("KGQA_DATA", "data")
    os.chdir(content)  # where the recipe finds its weights, batches and shards

    seconds = min(left - asked.reserve, asked.limit - EXPORT) - (time.monotonic() - began)
    if asked.part == 1 and seconds > 0:
        train_for(seconds, content, run, asked.every)
    if not (run / "export").is_dir():
        raise SystemExit(
            f"{left:.0f} s are left, {asked.reserve:.0f} of them reserved: no time to train; lower --reserve"
        )
    weights_out(work, out, asked.part)
    print(f"{left - (time.monotonic() - began):.0f} s are left on the clock")


def received(parcels: Path, folder: Path) -> Path | None:
    """The folder with what the parcels hold, below `folder`; None if some have not arrived."""
    try:
        manifest = (parcels / MANIFEST).read_bytes()
    except OSError as error:
        raise SystemExit(
            f"{parcels / MANIFEST}: {error.strerror}; take the manifest along with each parcel"
        ) from None
    work = folder.resolve() / hashlib.sha256(manifest).hexdigest()[:8]
    work.mkdir(parents=True, exist_ok=True)
    sums = json.loads(manifest)
    for name in sums:
        if (parcels / name).is_file() and not (work / name).exists():
            check(parcels / name, sums[name])
            shutil.copy(parcels / name, work / f"{name}.part")
            os.replace(work / f"{name}.part", work / name)
    if missing := [name for name in sums if not (work / name).exists()]:
        print(
            f"{len(sums) - len(missing)} of {len(sums)} parcels are here; still to come: {', '.join(missing)}"
        )
        return None
    if not (work / "content").is_dir():
        unpack([work / name for name in sums], work / "content")
    return work


def train_for(seconds: float, content: Path, run: Path, every: float) -> None:
    """Train for some seconds more, resuming from the latest checkpoint; the learning rate's schedule ends with them."""
    from kgqa.trainer.checkpoint import STATE, find_checkpoint
    from kgqa.trainer.finetuning.reader import ReaderRecipe, train_reader
    from kgqa.trainer.pretraining import PretrainingRecipe, run_recipe

    ((kind, values),) = json.loads((content / RECIPE).read_text(encoding="utf-8")).items()
    found = find_checkpoint(run)
    done = json.loads((found / STATE).read_text(encoding="utf-8"))["seconds"] if found else 0.0
    budget = {"max_minutes": (done + seconds) / 60, "max_steps": None, "max_tokens": None}
    values["trainer"] |= {**budget, "save_every_minutes": every}
    print(f"training for {seconds:.0f} s, after {done:.0f} s done", file=sys.stderr, flush=True)
    if kind == "reader":
        batches = StoredBatches(content / "batches", values["trainer"]["seed"])
        result = train_reader(ReaderRecipe.model_validate(values), run, batches)
    else:
        result = run_recipe(PretrainingRecipe.model_validate(values), run)
    print(f"step {result.steps}, {result.tokens / 1e6:.2f} million tokens, loss {result.loss:.3f}")
    if result.interrupted:
        raise SystemExit("stopped by a signal; the same command resumes")


def weights_out(work: Path, out: Path, first: int) -> None:
    """Pack what was trained, and copy as many parts, from the `first` on, as a command gives back."""
    parts, export = work / "parts", work / "run" / "export"
    if not (parts / MANIFEST).exists() or (parts / MANIFEST).stat().st_mtime < export.stat().st_mtime:
        for old in (parts, work / "packed"):
            shutil.rmtree(old, ignore_errors=True)
        parts.mkdir()
        (pack if (export / "reader.json").exists() else halve)(export, work / "packed")
        shutil.copy(work / "run" / "log.jsonl", work / "packed")
        whole = work / "whole.tar.gz"
        with tarfile.open(whole, "w:gz", compresslevel=1) as tar:
            tar.add(work / "packed", ".")
        _write_manifest(parts, split(whole, parts, "part", PART))
    names = list(json.loads((parts / MANIFEST).read_text(encoding="utf-8")))
    out.mkdir(parents=True, exist_ok=True)
    for name in [MANIFEST, *names[first - 1 : first - 1 + PARTS]]:
        shutil.copy(parts / name, out / name)
    last = min(first - 1 + PARTS, len(names))
    print(
        f"parts {first} to {last} of {len(names)}, {_size(parts, names[first - 1 : last]):.1f} MiB, are in {out}"
    )
    if last < len(names):
        print(f"the others: the same command with --part {last + 1}")


# At home again.


def home(asked: argparse.Namespace) -> None:
    """Make a model's folder of the parts that came home."""
    places = [folder for folder in asked.parts if (folder / MANIFEST).is_file()]
    if not places:
        raise SystemExit(f"{asked.parts[0]}: contains no {MANIFEST}; name the folder with the parts")
    found: list[Path] = []
    for name, expected in json.loads((places[0] / MANIFEST).read_text(encoding="utf-8")).items():
        here = [folder / name for folder in asked.parts if (folder / name).is_file()]
        if not here:
            raise SystemExit(f"{name}: is missing; bring it home with --part {name.split('-')[1]}")
        check(here[0], expected)
        found.append(here[0])
    if asked.out.exists():
        raise SystemExit(f"{asked.out}: exists; name another folder with --out")
    unpack(found, asked.out)
    last = json.loads((asked.out / "log.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    print(
        f"{asked.out}: step {last['step']}, {last['tokens'] / 1e6:.2f} million tokens, loss {last.get('loss')}"
    )


# Files in pieces, with checksums.


def split(whole: Path, folder: Path, name: str, size: int) -> dict[str, str]:
    """Cut a file into pieces of at most `size` bytes; their names, in order, with their checksums."""
    sums: dict[str, str] = {}
    with whole.open("rb") as file:
        while piece := file.read(size):
            path = folder / f"{name}-{len(sums) + 1}"
            path.write_bytes(piece)
            sums[path.name] = hashlib.sha256(piece).hexdigest()
    return sums


def check(path: Path, expected: str) -> None:
    """Stop with one line if a file is not what the manifest says."""
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != expected:
            raise SystemExit(f"{path}: damaged, or of other parcels (wrong SHA-256); bring it again")


def unpack(pieces: list[Path], folder: Path) -> None:
    """Unpack an archive in pieces; `folder` appears when it is whole."""
    part, whole = folder.with_name(folder.name + ".part"), folder.with_name(folder.name + ".tar")
    shutil.rmtree(part, ignore_errors=True)
    with whole.open("wb") as joined:
        for piece in pieces:
            joined.write(piece.read_bytes())
    with tarfile.open(whole, "r:*") as tar:
        tar.extractall(part, filter="data")
    os.replace(part, folder)
    whole.unlink()


def pack(folder: Path, out: Path) -> None:
    """Weights in 8 bits (`training/pack.py`)."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from pack import pack as packed

    packed(folder, out)


def halve(folder: Path, out: Path) -> None:
    """A copy of an encoder's folder with its weights in half precision."""
    from safetensors.torch import load_file

    from kgqa.models.pretrained import save_half

    shutil.copytree(folder, out, dirs_exist_ok=True)
    for path in out.rglob("*.safetensors"):
        save_half(load_file(path), path)


def _write_manifest(folder: Path, sums: dict[str, str]) -> None:
    (folder / MANIFEST).write_text(json.dumps(sums, indent=1) + "\n", encoding="utf-8")


def _size(folder: Path, names: Any) -> float:
    return sum((folder / name).stat().st_size for name in names) / MIB


def main() -> None:
    """The three commands."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("prepare", help="at home: write the parcels")
    one.add_argument("recipe", type=Path)
    one.add_argument("overrides", nargs="*", metavar="KEY=VALUE")
    one.add_argument("--out", type=Path, default=Path(".carry"), help="folder of the parcels (.carry)")
    one.add_argument(
        "--tokens", type=float, default=30e6, help="a reader's batches hold so many tokens (30e6)"
    )
    one.add_argument(
        "--times", type=int, default=8, help="a reader's batches are so many times the recipe's (8)"
    )
    one.add_argument(
        "--python", default="3.12", help='the machine\'s version of Python; "": it lacks no package'
    )
    one.set_defaults(run=prepare)
    two = commands.add_parser("train", help="on the machine: take a parcel in; with the last one, train")
    two.add_argument("parcels", type=Path)
    clock = two.add_mutually_exclusive_group(required=True)
    clock.add_argument("--left", type=float, help="seconds left on the clock")
    clock.add_argument("--began", type=float, help="or when it began, as `date +%%s` says it")
    two.add_argument("--clock", type=float, default=900, help="with --began: its seconds (900)")
    two.add_argument("--limit", type=float, default=600, help="seconds that this command may take (600)")
    two.add_argument("--reserve", type=float, default=90, help="seconds kept for export and transfer (90)")
    two.add_argument("--every", type=float, default=1.5, help="minutes between checkpoints (1.5)")
    two.add_argument("--work", type=Path, default=Path("runs/gpu"), help="folder that stays between commands")
    two.add_argument("--out", type=Path, default=Path("runs/parts"), help="folder for the parts that go home")
    two.add_argument(
        "--part", type=int, default=1, help="of a trained model, write the parts from this one on"
    )
    two.set_defaults(run=train)
    three = commands.add_parser("home", help="at home: unpack the weights")
    three.add_argument("parts", type=Path, nargs="+", help="folders with the parts")
    three.add_argument("--out", type=Path, required=True, help="folder of the model")
    three.set_defaults(run=home)
    asked = parser.parse_args()
    try:
        asked.run(asked)
    except ValueError as error:  # InputError
        if type(error).__name__ != "InputError":
            raise
        raise SystemExit(f"{error}") from None


if __name__ == "__main__":
    main()
