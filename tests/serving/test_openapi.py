"""What the service says of itself in OpenAPI is how it answers: tried by schemathesis, where that is installed."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kgqa.qa.answerer import Answerer


@pytest.mark.skipif(find_spec("schemathesis") is None, reason="schemathesis is not installed")
def test_requests_made_of_the_description_are_answered_as_described(
    served, model_folder: Path, tools_file: Path
) -> None:
    with served(Answerer.load(str(model_folder), str(tools_file), device="cpu")) as url:
        # whether a model, a relation or half a letter can be used is no matter of the schema, and is refused with 422
        command = (
            f"run {url}/openapi.json --exclude-checks positive_data_acceptance --max-examples 8 --request-timeout 60 "
            "--phases examples,coverage,fuzzing --generation-deterministic --no-color"
        )
        run = "import sys; from schemathesis.cli import schemathesis; schemathesis(sys.argv[1:])"
        tried = subprocess.run(
            [sys.executable, "-c", run, *command.split()],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert tried.returncode == 0, tried.stdout[-4_000:] + tried.stderr[-2_000:]
