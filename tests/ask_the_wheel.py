"""Run by `make wheel` in the environment that the wheel was installed into, outside the checkout."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

from kgqa import assets

here = Path(sys.prefix)
assert here in assets.ROOT.parents, f"kgqa was found in {assets.ROOT}, not in {here}"
for path in (assets.APP, assets.RELATIONS, assets.PARAPHRASES, assets.RESULTS, assets.CURVES, assets.RECIPES):
    assert path.exists(), f"{path} is missing in the wheel"
assert (assets.ROOT.parent / "py.typed").is_file()
assert importlib.util.find_spec("apps") is None, "a package `apps` was installed beside kgqa"

question = ["What did I dig with?", "--passage", "I want to plant flowers, so I dug the ground."]
done = subprocess.run([here / "bin" / "kgqa", "ask", *question, "--json"], check=True, stdout=subprocess.PIPE)
answer = json.loads(done.stdout)
assert answer["answer"] and answer["model"] and answer["graph"] == "everyday", answer
print(f"the wheel answers: {answer['answer']}")
