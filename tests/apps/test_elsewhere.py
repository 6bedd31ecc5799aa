import inspect
import json
import shlex

from apps.elsewhere import command_line, curl, python
from kgqa.cli.serve import serve
from kgqa.types import Passage, Question

ASKED = Question("Who's it?", ("a b", "c"), Passage('He said "$HOME".'))


def test_each_says_the_same_question() -> None:
    words = shlex.split(command_line(ASKED, ["my bees.ttl"]))
    assert words[:3] == ["kgqa", "ask", ASKED.text] and words[4] == ASKED.passage_text
    assert words[5:] == ["--choice", "a b", "--choice", "c", "--graph", "my bees.ttl"]
    compiled = python(ASKED, ["my bees.ttl"])
    assert "'my bees.ttl'" in compiled and compile(compiled, "asked", "exec")
    sent = json.loads(shlex.split(curl(ASKED))[-1])
    assert sent == {"question": ASKED.text, "passage": ASKED.passage_text, "choices": ["a b", "c"]}
    port = inspect.signature(serve).parameters["port"].default
    assert f":{port}/v1/answer" in curl(ASKED)
    assert command_line(Question("Why?")) == "kgqa ask 'Why?'"


def test_several_files_are_merged_first() -> None:
    sources = ["bees.ttl", "my market.csv"]
    merging = ["kgqa", "graph", "import", *sources, "--out", "graph"]
    first, asking = command_line(ASKED, sources).splitlines()
    assert shlex.split(first) == merging and shlex.split(asking)[-2:] == ["--graph", "graph"]
    for code in (python(ASKED, sources), curl(ASKED, sources)):
        assert code.startswith(f"# {shlex.join(merging)}\n")
    assert "graph='graph'" in python(ASKED, sources) and "# kgqa serve --graph graph\n" in curl(
        ASKED, sources
    )
    assert "#" not in curl(ASKED)
