"""The `kgqa` command as a fork of a process that has imported what it uses: the same command, seconds sooner.

python forked_kgqa.py SOCKET                        imports, and then forks for whoever calls
python -IS forked_kgqa.py SOCKET call ask ...       `kgqa ask ...`
python -IS forked_kgqa.py SOCKET call -c CODE       `python -c CODE`
"""

import json
import os
import select
import socket
import sys

AHEAD = (
    "kgqa.cli.graph",
    "kgqa.qa.answerer",
    "kgqa.trainer.finetuning.adapt",
    "rich.progress",
    "torch._dynamo",
    "transformers.models.bert.modeling_bert",
    "transformers.models.electra.modeling_electra",
)


def call(address: str, arguments: list[str]) -> int:
    """Run it there, with the files, folder and environment from here; the exit code."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(address)
        socket.send_fds(line, [b" "], [0, 1, 2])
        line.sendall(json.dumps([arguments, os.getcwd(), dict(os.environ)]).encode())
        line.shutdown(socket.SHUT_WR)
        return int(line.makefile().read())


def answer(line: socket.socket) -> None:
    """Run what is asked for in a child, and tell how it ended."""
    _, files, _, _ = socket.recv_fds(line, 1, 3)
    given = line.makefile().read()
    child = os.fork()
    if not child:
        line.close()
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        run(*json.loads(given))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    line.send(str(code if code >= 0 else 128 - code).encode())  # as a shell says it
    os._exit(0)


def run(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """What `python -m kgqa` or `python -c` does there, to the end of the process."""
    import runpy

    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0] = folder
    sys.argv = ["kgqa", *arguments]
    if arguments[:1] == ["-c"]:
        exec(arguments[1], {"__name__": "__main__"})
    else:
        runpy.run_module("kgqa", run_name="__main__", alter_sys=True)
    sys.exit()


def serve(address: str) -> None:
    """Import, and fork for each call, until standard input ends."""
    from importlib import import_module

    from kgqa.cli.main import ENVIRONMENT

    os.environ.update({**ENVIRONMENT, **os.environ})  # libraries read it when they are imported
    for name in AHEAD:
        import_module(name)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        while select.select([listener, sys.stdin], [], [])[0] == [listener]:
            line, _ = listener.accept()
            if not os.fork():
                listener.close()
                answer(line)
            line.close()


if __name__ == "__main__":
    if sys.argv[2:3] == ["call"]:
        sys.exit(call(sys.argv[1], sys.argv[3:]))
    serve(sys.argv[1])
