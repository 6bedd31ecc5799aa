"""`python -m apps.serve`: load the reader, then serve the app, so that nobody waits for the first answer."""

from __future__ import annotations

import logging
import sys
from pathlib import Path


def main(arguments: list[str]) -> None:
    """Serve the app; `arguments` are Streamlit's own. Bad input ends in one line and exit code 2."""
    logging.getLogger("streamlit").setLevel(logging.ERROR)  # it warns that no page is open yet
    from apps.resources import shared_answerer
    from kgqa.types import InputError

    print("Opening the reader and the graph ...", file=sys.stderr)
    try:
        shared_answerer()
    except InputError as error:
        print(f"kgqa: {error}", file=sys.stderr)
        sys.exit(2)
    from streamlit.web import cli

    sys.argv = ["streamlit", "run", str(Path(__file__).with_name("main.py")), *arguments]
    sys.exit(cli.main())


if __name__ == "__main__":
    main(sys.argv[1:])
