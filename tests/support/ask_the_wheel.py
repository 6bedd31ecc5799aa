"""Run by `make wheel` in the environment that the wheels were installed into, outside the checkout: the reader named
answers."""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import kgqa
from kgqa import settings

here = Path(sys.prefix)
assert here in settings.ROOT.parents, f"kgqa was found in {settings.ROOT}, not in {here}"
for path in (
    settings.APP,
    settings.RELATIONS,
    settings.PARAPHRASES,
    settings.CURVES,
    settings.RECIPES,
):
    assert path.exists(), f"{path} is missing in the wheel"
assert (settings.ROOT.parent / "py.typed").is_file()
assert importlib.util.find_spec("apps") is None, "a package `apps` was installed beside kgqa"

question = ["What did I dig with?", "--passage", "I want to plant flowers, so I dug the ground."]
done = subprocess.run([here / "bin" / "kgqa", "ask", *question, "--json"], check=True, stdout=subprocess.PIPE)
answer = json.loads(done.stdout)
assert answer["answer"] and answer["model"] == sys.argv[1] and answer["graph"] == "everyday", answer
print(f"the wheel answers: {answer['answer']}")

found = kgqa.load().answer(kgqa.Question(question[0], passage=kgqa.Passage(question[2])))
assert found.text == answer["answer"], found.text

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = str(free.getsockname()[1])
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
app = subprocess.Popen([here / "bin" / "kgqa", "app", "--headless", "--port", port])
try:
    until = time.monotonic() + 180
    while app.poll() is None and time.monotonic() < until:
        try:
            assert direct.open(f"http://127.0.0.1:{port}/_stcore/health", timeout=5).status == 200
            break
        except OSError:
            time.sleep(0.5)
    else:
        raise AssertionError("the wheel's app does not open")
finally:
    app.terminate()
    app.wait(30)
print("the wheel's app opens")
