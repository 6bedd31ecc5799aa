"""A small part of `training/bench/reliability.py`: broken inputs of every kind end in one clear line."""

import importlib.util
import sys
from collections import Counter
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "training" / "bench" / "reliability.py"


@pytest.fixture(scope="module")
def reliability():
    spec = importlib.util.spec_from_file_location("reliability", BENCH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["reliability"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def world(reliability, tmp_path_factory: pytest.TempPathFactory):
    return reliability.World(tmp_path_factory.mktemp("world"))


def test_broken_inputs_are_read_or_refused_in_one_line(reliability, world) -> None:
    faults = []
    for name, attempt in world.tries().items():
        count = Counter()
        faults += reliability.try_all(name, attempt, range(6), count)
        assert count["read"] + count["refused"] == 6 or faults
    assert not faults


def test_a_broken_reader_counts_as_a_fault(reliability) -> None:
    def bad(draw, folder: Path) -> None:
        raise KeyError("somewhere")

    def deadly(draw, folder: Path) -> None:
        import os

        os.kill(os.getpid(), 9)

    count = Counter()
    assert len(reliability.try_all("bad", bad, range(3), count)) == count["traceback"] == 3
    assert len(reliability.try_all("deadly", deadly, range(3), count)) == count["crash"] == 3


def test_killed_imports_leave_nothing_half(reliability, world) -> None:
    assert reliability.kill_imports(world, 2, reliability.random.Random(0))[1] == []
