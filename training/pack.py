"""A trained model as it is released, its weights in 8 bits: `python training/pack.py FOLDER OUT`.

FOLDER is what `kgqa train` exported, a reader or the encoder by which facts are found. OUT loads as FOLDER does.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from kgqa.models.packing import load_weights, save_packed
from kgqa.models.pretrained import CARD, POOLER, WEIGHTS, write_card
from kgqa.models.reader import OWN, read_card


def pack(folder: Path, out: Path) -> int:
    """Write a model's folder anew with its weights in 8 bits; the bytes of all its files.

    Raises:
        InputError: the folder holds a reader whose card is damaged.
    """
    out.mkdir(parents=True, exist_ok=True)
    for old in [*out.glob("*.safetensors"), *out.glob("*.index.json")]:
        old.unlink()
    for path in folder.glob("*.json"):
        if not path.name.endswith(".index.json") and path.name != CARD:
            shutil.copy(path, out / path.name)
    for name in (WEIGHTS, OWN):
        if any(folder.glob(f"{Path(name).stem}*.safetensors")):
            state = {key: value for key, value in load_weights(folder, name).items() if POOLER not in key}
            save_packed(state, out, name)
    if (folder / CARD).exists():
        card = read_card(folder)
        card.pop("checksums", None)
        write_card(out, card)
    return sum(path.stat().st_size for path in out.iterdir())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    print(f"{given.out}: {pack(given.folder, given.out) / 1e6:.1f} MB")
