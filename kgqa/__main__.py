"""`python -m kgqa` is the command `kgqa`."""

from kgqa.cli.main import run

if __name__ == "__main__":
    run()
