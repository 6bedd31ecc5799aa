"""Train on a lent GPU machine without network, in three commands.

    python training/gpu.py prepare RECIPE.toml [KEY=VALUE ...]          at home: parcels that the machine can take
    python3 gpu.py train PARCELS --left SECONDS --out OUT               there, once for each parcel that arrives
    python training/gpu.py home OUT ... --to FOLDER                     at home: a folder that opens as any model

With the last parcel, `train` trains for what is left of the clock and writes the weights to OUT in parts. If it is
ended, the same command resumes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MIB = 1 << 20
PARCEL = 60 * MIB
"""Bytes of a parcel: one command takes 64 MiB there."""
PART, PARTS = 15 * MIB, 4
"""Bytes of a part, and how many of them one command gives back: files of 16 MiB, 64 MiB in all."""
CODE = ("kgqa", "graph_data/*.toml", "training/gpu.py", "training/pack.py")
"""What the machine needs of the checkout."""
WHEELS = ("pydantic", "pydantic-core", "annotated-types", "typing-inspection", "rapidfuzz", "xxhash")
"""Packages that the machine lacks."""
EXPORT = 45
"""Seconds from the last step to the parts: checkpoint, export, packing."""
MANIFEST, RECIPE, WHOLE = "manifest.json", "recipe.json", "whole.zip"

Files = dict[str, Path]
"""Files and folders by their names in an archive."""


# At home: from a recipe to parcels.


def prepare(asked: argparse.Namespace) -> None:
    """Write parcels, with a manifest of their checksums and this file; what was made before is used again."""
    from kgqa.trainer.recipe import recipe_values

    began, out = time.monotonic(), asked.out
    out.mkdir(parents=True, exist_ok=True)
    is_reader = isinstance(recipe_values(asked.recipe).get("data"), list)
    recipe, files = (reader_files if is_reader else encoder_files)(asked)
    (out / RECIPE).write_text(json.dumps(recipe), encoding="utf-8")
    files |= {path.relative_to(ROOT).as_posix(): path for kind in CODE for path in ROOT.glob(kind)}
    files |= {"site": wheels(out, asked.python)} if asked.python else {}
    tell("packing")
    archive({**files, RECIPE: out / RECIPE}, out / WHOLE)
    pieces = split(out / WHOLE, out, "parcel", PARCEL)
    shutil.copy(__file__, out / "gpu.py")
    print(f"{out}: {len(pieces)} parcels, {mib(pieces):.1f} MiB, in {time.monotonic() - began:.0f} s")


def reader_files(asked: argparse.Namespace) -> tuple[dict[str, Any], Files]:
    """The resolved recipe of a reader, and what it needs: weights, and batches collated beforehand."""
    from kgqa.fingerprint import fingerprint
    from kgqa.models import collation
    from kgqa.models.collation.collate import Collator
    from kgqa.settings import cache_folder, find_encoder
    from kgqa.trainer.data.collated import load_batch, save_batch
    from kgqa.trainer.data.mixture import MixedBatches, cache_key, check_uses, data_hashes
    from kgqa.trainer.finetuning import reader as training
    from kgqa.trainer.loop import count_tokens
    from kgqa.trainer.recipe import load_recipe
    from kgqa.types import InputError

    recipe = load_recipe(asked.recipe, asked.overrides, training.ReaderRecipe)
    if stays := [
        name for name in ("teacher", "entities", "development", "held_out") if getattr(recipe, name)
    ]:
        raise InputError(f"{stays[0]}: does not travel; leave it out of the recipe")
    start = asked.out / "start"
    shrink(find_encoder(recipe.encoder.folder), start)
    data = [s.model_copy(update={"batch_questions": asked.times * s.batch_questions}) for s in recipe.data]
    recipe = recipe.model_copy(update={"data": data})
    located = recipe.located()
    check_uses(located.data)
    reader, tokenizer, folder = training.build(recipe)
    longest = min(recipe.input.max_tokens, reader.layerwise.max_tokens)
    reading = recipe.input.model_copy(update={"max_tokens": longest})
    how = (recipe.trainer.seed, recipe.paraphrase, recipe.graph_dropout)
    found_by = cache_key([], "", data_hashes(located.data))
    key = fingerprint(located.data, reading, how, collation, folder / "tokenizer.json", found_by)
    batches = asked.out / f"batches-{key}"
    batches.mkdir(exist_ok=True)
    parts = [training.prepare(settings, recipe, cache_folder("subgraphs")) for settings in located.data]
    mixed: Any = MixedBatches(parts, Collator(tokenizer, reading), *how)
    tokens, told = 0, 0.0
    files: Files = {}
    for step in count():
        name = f"{step:06}.safetensors"
        if not (batches / name).exists():
            save_batch(mixed[step], batches / f"{name}.part")
            os.replace(batches / f"{name}.part", batches / name)
        files[f"batches/{name}"] = batches / name
        tokens += count_tokens(load_batch(batches / name))
        if tokens >= asked.tokens or time.monotonic() - told > 10:
            told = time.monotonic()
            tell(f"collated {tokens / 1e6:.2f} of {asked.tokens / 1e6:g} million tokens, {step + 1} batches")
        if tokens >= asked.tokens:
            break
    recipe = recipe.model_copy(update={"encoder": recipe.encoder.model_copy(update={"folder": "start"})})
    return {"reader": recipe.model_dump(mode="json")}, {"start": start, **files}


def encoder_files(asked: argparse.Namespace) -> tuple[dict[str, Any], Files]:
    """The resolved recipe of a pretraining, and what it needs: tokenized shards, and the weights it starts from."""
    from kgqa.settings import data_path
    from kgqa.trainer.pretraining import PretrainingRecipe, find_objective, prepare_corpus
    from kgqa.trainer.recipe import load_recipe
    from kgqa.types import InputError

    recipe = load_recipe(asked.recipe, asked.overrides, PretrainingRecipe)
    objective, data = recipe.objective, recipe.data
    if objective.teacher or data.entities or find_objective(objective.name).reads == "subgraphs":
        raise InputError(
            f"objective.name={objective.name!r}: its teacher or graph does not travel; use another"
        )
    files = {"corpus": prepare_corpus(recipe, asked.out)[0].folder}
    update: dict[str, Any] = {"data": data.model_copy(update={"corpus": "corpus"})}
    if recipe.tokenizer.folder:
        update["tokenizer"] = recipe.tokenizer.model_copy(update={"folder": "corpus"})
    if recipe.start:
        files["start"] = asked.out / "start"
        shrink(data_path(recipe.start), files["start"])
        update["start"] = "start"
    return {"encoder": recipe.model_copy(update=update).model_dump(mode="json")}, files


def wheels(out: Path, python: str) -> Path:
    """A folder with the packages that the machine lacks, in the versions of this environment."""
    from importlib.metadata import version

    site, part = out / f"site-{python}", out / "site.part"
    if not site.is_dir():
        named = [f"{name}=={version(name)}" for name in WHEELS]
        kinds = [f"--platform=manylinux{kind}_x86_64" for kind in ("2014", "_2_17", "_2_27", "_2_28")]
        only = ["--no-deps", "--only-binary=:all:", f"--python-version={python}", *kinds]
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "-d", part, *only, *named], check=True)
        for wheel in part.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(part)
            wheel.unlink()
        os.replace(part, site)
    return site


# On the machine: parcels in, weights out.


def train(asked: argparse.Namespace) -> None:
    """Take parcels in; if none is missing, train for what is left of the clock and write the weights in parts."""
    began, out = time.monotonic(), asked.out.resolve()
    left = asked.left if asked.left is not None else asked.began + asked.clock - time.time()
    if (work := received(asked.parcels, asked.work)) is None:
        return
    content, run = work / "content", work / "run"
    # the machine's own packages come before those brought along
    sys.path[:] = [str(content), *sys.path, str(content / "training"), str(content / "site")]
    os.environ.setdefault("KGQA_DATA", "data")  # expanded, but not read
    os.chdir(content)  # the recipe names its weights and shards from here
    seconds = min(left - asked.reserve, asked.limit - EXPORT) - (time.monotonic() - began)
    if asked.part == 1 and seconds > 0:
        train_for(seconds, content, run, asked.every)
    if not (run / "export").is_dir():
        raise SystemExit(
            f"no time to train: {left:.0f} s are left, {asked.reserve:g} reserved; lower --reserve"
        )
    weights_out(work, out, asked.part)
    print(f"{left - (time.monotonic() - began):.0f} s are left on the clock")


def received(parcels: Path, folder: Path) -> Path | None:
    """The folder below `folder` with what all parcels hold; None if some have not arrived."""
    try:
        manifest = (parcels / MANIFEST).read_bytes()
    except OSError as error:
        raise SystemExit(f"{parcels / MANIFEST}: {error.strerror}; it travels with each parcel") from None
    work, sums = folder.resolve() / hashlib.sha256(manifest).hexdigest()[:8], json.loads(manifest)
    work.mkdir(parents=True, exist_ok=True)
    for name in sums:
        if (parcels / name).is_file() and not (work / name).exists():
            check(parcels / name, sums[name])
            shutil.copy(parcels / name, work / f"{name}.part")
            os.replace(work / f"{name}.part", work / name)
    if missing := [name for name in sums if not (work / name).exists()]:
        print(f"{len(sums) - len(missing)} of {len(sums)} parcels are here; to come: {', '.join(missing)}")
        return None
    if not (work / "content").is_dir():
        unpack([work / name for name in sums], work / "content")
    return work


def train_for(seconds: float, content: Path, run: Path, every: float) -> None:
    """Train for some seconds more, from the latest checkpoint on; the schedule's decay ends with them."""
    from kgqa.trainer.checkpoint import STATE, find_checkpoint
    from kgqa.trainer.data.collated import CollatedBatches
    from kgqa.trainer.finetuning.reader import ReaderRecipe, train_reader
    from kgqa.trainer.pretraining import PretrainingRecipe, run_recipe

    ((kind, values),) = json.loads((content / RECIPE).read_text(encoding="utf-8")).items()
    found = find_checkpoint(run)
    done = json.loads((found / STATE).read_text(encoding="utf-8"))["seconds"] if found else 0.0
    budget = {"max_minutes": (done + seconds) / 60, "max_steps": None, "max_tokens": None}
    values["trainer"] |= {**budget, "save_every_minutes": every}
    tell(f"training for {seconds:.0f} s" + f", after {done:.0f} s before" * bool(done))
    if kind == "reader":
        batches = CollatedBatches(content / "batches", values["trainer"]["seed"])
        result = train_reader(ReaderRecipe.model_validate(values), run, batches)
    else:
        result = run_recipe(PretrainingRecipe.model_validate(values), run)
    print(f"step {result.steps}, {result.tokens / 1e6:.2f} million tokens, loss {result.loss:.3f}")
    if result.interrupted:
        raise SystemExit("ended by a signal; the same command resumes")


def weights_out(work: Path, out: Path, first: int) -> None:
    """Pack what was trained, and copy as many parts, from the `first` on, as one command gives back."""
    parts, export, packed = work / "parts", work / "run" / "export", work / "packed"
    manifest = parts / MANIFEST
    if not manifest.exists() or manifest.stat().st_mtime < export.stat().st_mtime:
        shutil.rmtree(packed, ignore_errors=True)
        parts.mkdir(exist_ok=True)
        shrink(export, packed)
        shutil.copy(work / "run" / "log.jsonl", packed)
        archive({path.name: path for path in packed.iterdir()}, work / WHOLE)
        split(work / WHOLE, parts, "part", PART)
    names = list(json.loads(manifest.read_text(encoding="utf-8")))
    chosen = [parts / name for name in names[first - 1 : first - 1 + PARTS]]
    out.mkdir(parents=True, exist_ok=True)
    for path in (manifest, *chosen):
        shutil.copy(path, out)
    last = first - 1 + len(chosen)
    print(f"parts {first} to {last} of {len(names)}, {mib(chosen):.1f} MiB, are in {out}")
    if last < len(names):
        print(f"for the others: the same command with --part {last + 1}")


# At home again.


def home(asked: argparse.Namespace) -> None:
    """Make a model's folder of the parts that came home."""
    manifests = [folder / MANIFEST for folder in asked.parts if (folder / MANIFEST).is_file()]
    if not manifests:
        raise SystemExit(f"{asked.parts[0]}: contains no {MANIFEST}; name the folders of the parts")
    if asked.to.exists():
        raise SystemExit(f"{asked.to}: exists; name another folder with --to")
    found: list[Path] = []
    for number, (name, expected) in enumerate(json.loads(manifests[0].read_text()).items(), start=1):
        here = [folder / name for folder in asked.parts if (folder / name).is_file()]
        if not here:
            raise SystemExit(f"{name}: is missing; it comes home with --part {number}")
        check(here[0], expected)
        found.append(here[0])
    unpack(found, asked.to)
    last = json.loads((asked.to / "log.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    print(f"{asked.to}: the model after step {last['step']:,}, {last['tokens']:,} tokens (log.jsonl)")


# Files in pieces, with checksums; folders of weights.


def archive(files: Files, whole: Path) -> None:
    """Write an archive of files and folders: weights, which LZMA does not shrink more, are deflated."""
    with zipfile.ZipFile(whole, "w", compresslevel=1) as packed:
        for name, path in files.items():
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if file.is_file() and "__pycache__" not in file.parts:
                    weights = file.suffix == ".safetensors" and not name.startswith("batches")
                    inside = f"{name}/{file.relative_to(path).as_posix()}".removesuffix("/.")
                    packed.write(file, inside, zipfile.ZIP_DEFLATED if weights else zipfile.ZIP_LZMA)


def split(whole: Path, folder: Path, name: str, size: int) -> list[Path]:
    """Cut a file into pieces of at most `size` bytes, and write their checksums last; the file itself is removed."""
    for old in folder.glob(f"{name}-*"):
        old.unlink()
    pieces: list[Path] = []
    with whole.open("rb") as file:
        while piece := file.read(size):
            pieces.append(folder / f"{name}-{len(pieces) + 1}")
            pieces[-1].write_bytes(piece)
    whole.unlink()
    sums = {path.name: sha256(path) for path in pieces}
    (folder / MANIFEST).write_text(json.dumps(sums, indent=1) + "\n", encoding="utf-8")
    return pieces


def sha256(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(path: Path, expected: str) -> None:
    """Stop with one line if a file is not what the manifest says."""
    if sha256(path) != expected:
        raise SystemExit(f"{path}: damaged, or of another run (wrong SHA-256); bring it again")


def unpack(pieces: Sequence[Path], folder: Path) -> None:
    """Unpack an archive in pieces; `folder` appears when it is whole."""
    part, whole = folder.with_name(folder.name + ".part"), folder.with_name(folder.name + ".zip")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    with whole.open("wb") as joined:
        for piece in pieces:
            joined.write(piece.read_bytes())
    zipfile.ZipFile(whole).extractall(part)
    whole.unlink()
    os.replace(part, folder)


def shrink(folder: Path, out: Path) -> None:
    """A copy of a model, a reader in 8 bits, an encoder in half precision; packed weights stay as they are."""
    from pack import pack  # beside this file, or among the code that came along
    from safetensors.torch import load_file

    from kgqa.models.pretrained import WEIGHTS, is_packed, save_half

    if (folder / "reader.json").exists():
        pack(folder, out)
        return
    shutil.copytree(folder, out, dirs_exist_ok=True)
    for path in out.rglob("*.safetensors"):
        if not is_packed(path.parent, WEIGHTS):
            save_half(load_file(path), path)


def mib(paths: Iterable[Path]) -> float:
    """Size of files."""
    return sum(path.stat().st_size for path in paths) / MIB


def tell(line: str) -> None:
    """Show progress."""
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """The three commands."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    commands = parser.add_subparsers(required=True)
    add = commands.add_parser("prepare", help="at home: write the parcels")
    add.add_argument("recipe", type=Path, help="of kgqa train (a reader) or kgqa pretrain")
    add.add_argument("overrides", nargs="*", metavar="KEY=VALUE")
    add.add_argument("--out", type=Path, default=Path(".carry"), help="folder of the parcels (.carry)")
    add.add_argument("--tokens", type=float, default=15e6, help="of a reader's batches in all (15e6)")
    add.add_argument("--times", type=int, default=8, help="a reader's batches are so many times larger (8)")
    add.add_argument("--python", default="3.12", help='its version there; "": no package is missing there')
    add.set_defaults(run=prepare)
    add = commands.add_parser("train", help="on the machine: take a parcel in; with the last one, train")
    add.add_argument("parcels", type=Path)
    clock = add.add_mutually_exclusive_group(required=True)
    clock.add_argument("--left", type=float, help="seconds left on the clock")
    clock.add_argument("--began", type=float, help="or its start, as `date +%%s` prints it")
    add.add_argument("--clock", type=float, default=900, help="with --began: its seconds (900)")
    add.add_argument("--limit", type=float, default=600, help="seconds that a command may take (600)")
    add.add_argument("--reserve", type=float, default=120, help="seconds for export and transfer (120)")
    add.add_argument("--every", type=float, default=1.5, help="minutes between checkpoints (1.5)")
    add.add_argument("--work", type=Path, default=Path("runs/gpu"), help="what stays there (runs/gpu)")
    add.add_argument("--out", type=Path, default=Path("runs/parts"), help="what goes home (runs/parts)")
    add.add_argument("--part", type=int, default=1, help="of a trained model, only write parts from this on")
    add.set_defaults(run=train)
    add = commands.add_parser("home", help="at home: unpack the weights")
    add.add_argument("parts", type=Path, nargs="+", help="folders with the parts and their manifest")
    add.add_argument("--to", type=Path, required=True, help="folder of the model")
    add.set_defaults(run=home)
    asked = parser.parse_args()
    try:
        asked.run(asked)
    except ValueError as error:
        if type(error).__name__ != "InputError":
            raise
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
