"""The mean of the weights of two readers, B having gone on from A: python training/mean.py A B OUT [SHARE_OF_B]"""

import shutil
import sys
from pathlib import Path

from safetensors.torch import load_file, save_file

first, second, out = map(Path, sys.argv[1:4])
share = float(sys.argv[4]) if len(sys.argv) > 4 else 0.5
shutil.copytree(second, out)
for name in ("model.safetensors", "reader.safetensors"):
    one, other = load_file(first / name), load_file(second / name)
    mean = {
        key: ((1 - share) * one[key].float() + share * other[key].float()).to(other[key].dtype)
        for key in other
    }
    save_file(mean, out / name, {"format": "pt"})
