"""Small parts of `training/bench/reliability.py` and `endurance.py`: what is broken ends in one clear line."""

import importlib
from collections import Counter
from pathlib import Path
from random import Random

import pytest

BENCH = Path(__file__).parents[2] / "training" / "bench"


@pytest.fixture(scope="module")
def bench():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCH))
        yield importlib.import_module


@pytest.fixture(scope="module")
def reliability(bench):
    return bench("reliability")


@pytest.fixture(scope="module")
def endurance(bench):
    return bench("endurance")


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


def test_what_strangers_send_is_read_or_refused_in_one_line(bench, reliability, world) -> None:
    pytest.importorskip("streamlit")
    faults = []
    for name, attempt in bench("faults.strangers").Strangers(world).tries().items():
        count = Counter()
        faults += reliability.try_all(name, attempt, range(3), count)
        assert count["read"] + count["refused"] == 3 or faults
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


def test_killed_imports_leave_nothing_half(endurance, world) -> None:
    assert endurance.kill_imports(world, 2, Random(0))[1] == []


def test_a_full_disk_leaves_nothing_half(endurance, world) -> None:
    tried, faults = endurance.fill_disk(world)
    assert tried and not faults


def test_a_killed_prediction_goes_on(endurance, world) -> None:
    assert endurance.kill_predictions(world, 1, Random(0))[1] == []


def test_killed_trainings_end_with_the_weights_of_an_unbroken_one(endurance, world) -> None:
    assert endurance.kill_trainings(world, 1, Random(0))[1] == []
