from pathlib import Path

from kgqa.graph.linking.fuzzy import forgiving_linker
from kgqa.graph.linking.timed import TimedLinker
from kgqa.graph.opening import open_graph


def test_the_time_that_linking_takes_is_noted(tools_file: Path) -> None:
    plain = forgiving_linker(open_graph(tools_file))
    linker, texts = TimedLinker(plain), ["I need a trowel"]
    assert linker.link_many(texts) == plain.link_many(texts) and linker.seconds > 0
