"""The mean of the weights of two readers, where the second went on from the first: python training/mean.py A B OUT"""

import shutil
import sys
from pathlib import Path

from safetensors.torch import load_file, save_file

first, second, out = map(Path, sys.argv[1:4])
shutil.copytree(second, out)
for name in ("model.safetensors", "reader.safetensors"):
    one, other = load_file(first / name), load_file(second / name)
    mean = {key: ((one[key].float() + other[key].float()) / 2).to(other[key].dtype) for key in other}
    save_file(mean, out / name, {"format": "pt"})
