import sys
from pathlib import Path

import pytest
import torch

from kgqa.models.devices import cast_linear_layers, find_device, find_precision, trim_memory, use_one_thread
from kgqa.types import InputError


def test_the_first_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"cuda": False, "mps": False}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there["cuda"])
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: there["mps"])
    assert find_device() == torch.device("cpu") == find_device("cpu")
    there["mps"] = True
    assert find_device() == torch.device("mps")
    there["cuda"] = True
    assert find_device("auto") == torch.device("cuda") and find_device("cuda:0").index == 0
    with pytest.raises(InputError, match="no such device"):
        find_device("cuda:1")


@pytest.mark.parametrize("name", ["gpu", "", "xpu", "meta"])
def test_what_is_not_there_is_one_sentence(name: str) -> None:
    with pytest.raises(InputError, match="available: auto"):
        find_device(name)


def test_one_thread_unless_told_otherwise(monkeypatch) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        use_one_thread()
        assert torch.get_num_threads() == 2
        monkeypatch.delenv("OMP_NUM_THREADS")
        use_one_thread()
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


def test_precision_is_that_of_the_processor_unless_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = torch.device("cpu")
    able = {"avx2": True}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: able)
    for wanted in ("bf16", "fp32", "int8"):
        monkeypatch.setenv("KGQA_PRECISION", wanted)
        assert find_precision(cpu, 768) == wanted
    with pytest.raises(InputError, match="KGQA_PRECISION=int8: needs a CPU"):
        find_precision(torch.device("mps"), 768)
    monkeypatch.delenv("KGQA_PRECISION")
    for has, found in (
        ({"avx2": True, "avx512_bf16": True, "amx_bf16": True}, "bf16"),
        ({"avx2": True, "avx512_bf16": True, "cpu_name": "AMD EPYC"}, "bf16"),
        ({"avx2": True, "avx512_bf16": True}, "int8"),
        ({"avx2": True}, "int8"),
        ({"architecture": "arm"}, "fp32"),
    ):
        able = has
        assert find_precision(cpu, 768) == found
    able = {"avx2": True}
    assert find_precision(cpu, 384) == find_precision(torch.device("mps"), 768) == "fp32"
    assert find_precision(cpu, 768, once=True) == "fp32"
    monkeypatch.setenv("KGQA_PRECISION", "fp8")
    with pytest.raises(InputError, match="KGQA_PRECISION=fp8"):
        find_precision(cpu, 768)


def test_only_linear_layers_are_halved() -> None:
    module = torch.nn.Sequential(torch.nn.Embedding(4, 8), torch.nn.Linear(8, 8), torch.nn.LayerNorm(8))
    cast_linear_layers(module, "bf16")
    assert [p.dtype for p in module.parameters()] == [
        torch.float32,
        torch.bfloat16,
        torch.bfloat16,
        torch.float32,
        torch.float32,
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="glibc alone keeps what is freed")
def test_freed_memory_goes_back_to_the_system() -> None:
    def resident() -> int:
        return 4096 * int(Path("/proc/self/statm").read_text().split()[1])

    blocks = [b"x" * 64_000 for _ in range(4_000)]
    kept = blocks[::50]  # glibc gives back what lies above the last that is held, and no more
    del blocks
    before = resident()
    trim_memory()
    assert before - resident() > 100_000_000
    assert len(kept) == 80
