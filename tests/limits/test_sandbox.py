import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from kgqa.limits.sandbox import SandboxLimits, run_sandboxed, start
from kgqa.types import InputError


def test_what_a_function_returns_comes_back() -> None:
    assert run_sandboxed("json:dumps", "a list", obj=[1, "ä"]) == '[1, "\\u00e4"]'
    assert run_sandboxed("json:loads", "a text", content=b'{"a": 1}') == {"a": 1}
    assert run_sandboxed("builtins:len", "nothing", content=b"") == 0


def test_a_fault_of_our_own_is_no_fault_of_the_file() -> None:
    with pytest.raises(RuntimeError, match="a text: JSONDecodeError"):
        run_sandboxed("json:loads", "a text", content=b"{")
    with pytest.raises(RuntimeError, match="a text: ModuleNotFoundError"):
        run_sandboxed("kgqa.no_such_module:read", "a text", content=b"{")


def test_a_child_that_is_done_ends_at_once() -> None:
    def seconds() -> float:
        with start("json:loads", SandboxLimits(), b"1") as child:
            assert child.stdout is not None and b"result" in child.stdout.readline()
            begin = time.monotonic()
            child.wait()
            return time.monotonic() - begin

    assert min(seconds() for _ in range(3)) < 0.9


def doze() -> None:
    time.sleep(60)


def burn() -> None:
    while True:
        pass


def fill() -> int:
    return len(bytearray(1 << 30))


def report_twice(report: Callable[[str, int], None]) -> int:
    report("reading", 1)
    report("reading", 2)
    return 3


@pytest.mark.parametrize(
    ("task", "output"),
    [
        ("tests.limits.test_sandbox:doze", "not read within 5 s"),
        ("tests.limits.test_sandbox:burn", "not read within 5 s"),
        ("tests.limits.test_sandbox:fill", "exhausts its reader"),
        ("os:abort", "exhausts its reader"),
    ],
)
def test_a_child_that_takes_too_much_is_one_line(task: str, output: str) -> None:
    begin = time.monotonic()
    with pytest.raises(InputError, match=f"the file: {output}"):
        run_sandboxed(
            task, "the file", SandboxLimits(memory_bytes=600 << 20, time_s=5.0 if "5 s" in output else 60.0)
        )
    assert time.monotonic() - begin < 30


def test_no_more_than_two_files_are_read_at_a_time() -> None:
    def read(seconds: float) -> str:
        try:
            return str(
                run_sandboxed("tests.limits.test_sandbox:doze", "the file", SandboxLimits(time_s=seconds))
            )
        except InputError as error:
            return str(error)

    with ThreadPoolExecutor() as many:
        reported = list(many.map(read, [8.0, 8.0, *[1.0] * 4]))
    assert ["too many" in output for output in reported] == [False, False, *[True] * 4]
    assert run_sandboxed("json:loads", "a text", content=b"1") == 1


def test_what_is_told_on_the_way_is_heard() -> None:
    heard: list[tuple[str, int]] = []
    reported = run_sandboxed(
        "tests.limits.test_sandbox:report_twice", "x", report=lambda *output: heard.append(output)
    )
    assert reported == 3 and heard == [("reading", 1), ("reading", 2)]


def test_a_child_does_not_outlive_whoever_started_it() -> None:
    code = (
        "import time; from kgqa.limits.sandbox import SandboxLimits, start;"
        "print(start('tests.limits.test_sandbox:doze', SandboxLimits()).pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    for _ in range(300):
        try:
            os.kill(child, 0)
            with open(f"/proc/{child}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return
        except (ProcessLookupError, FileNotFoundError):
            return
        time.sleep(0.1)
    raise AssertionError("it lives on")
