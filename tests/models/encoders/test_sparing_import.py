"""Encoders imported without their surroundings are the same encoders, and leave no trace on other imports."""

import subprocess
import sys

PROGRAM = """
import sys
from kgqa.models.encoders.sparing_import import COMPILER, UNUSED, import_encoders
if sys.argv[1] == "sparing":
    import_encoders()
import torch
from transformers import AutoConfig, AutoModel
torch.manual_seed(0)
sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
for kind in ("bert", "electra", "gpt2"):
    sizes |= {"n_embd": 16, "n_layer": 2, "n_head": 2} if kind == "gpt2" else {}
    model = AutoModel.from_config(AutoConfig.for_model(kind, vocab_size=50, **sizes)).eval()
    ids = torch.arange(2, 14).view(2, 6)
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    print(kind, model(input_ids=ids, attention_mask=mask).last_hidden_state.sum(-1).tolist())
print("compiler", COMPILER in sys.modules, file=sys.stderr)
import scipy.optimize
import torch._dynamo
assert torch.distributed.is_available() and torch._dynamo.disable is not None and "accelerate" in UNUSED
"""


def run(way: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", PROGRAM, way], capture_output=True, text=True, check=True)


def test_the_same_encoders_without_the_compiler() -> None:
    sparing, whole = run("sparing"), run("whole")
    assert sparing.stdout == whole.stdout and "compiler False" in sparing.stderr


def test_what_was_left_out_comes_when_it_is_asked_for() -> None:
    program = """
import sys
from kgqa.models.encoders.sparing_import import import_encoders
import_encoders()
assert "torch._dynamo" not in sys.modules
import importlib
assert importlib.import_module("torch._dynamo").__spec__.name == "torch._dynamo"
"""
    subprocess.run([sys.executable, "-c", program], check=True)
