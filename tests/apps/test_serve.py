import os
import subprocess
import sys


def test_a_missing_reader_ends_in_one_line_and_code_2() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "apps.serve"],
        env={**os.environ, "KGQA_MODEL": "missing", "KGQA_GRAPH": "everyday"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stderr.strip().splitlines()
    assert done.returncode == 2 and lines[-1].startswith("kgqa: missing") and "Traceback" not in done.stderr
