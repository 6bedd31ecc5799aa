from kgqa.graph.retrieval.keeping import LONGEST, KeptSubgraphs

from kgqa.types import Passage, Question, Subgraph


def test_what_was_retrieved_is_kept_by_graph_question_and_size() -> None:
    kept, made = KeptSubgraphs(most=2), []

    def ask(graph: str, text: str, nodes: int = 10, passage: str = "") -> list[Subgraph]:
        question = Question(text, (), Passage(passage) if passage else None)
        return kept.of(graph, question, nodes, lambda: [made.append(text) or Subgraph((text,))])

    assert ask("one", "q") == ask("one", "q") and made == ["q"]
    ask("other", "q")
    ask("one", "q", 20)
    assert made == ["q"] * 3
    ask("one", "q")  # the first was the one asked least lately
    assert made == ["q"] * 4
    ask("one", "long", passage="x" * LONGEST), ask("one", "long", passage="x" * LONGEST)
    ask("", "no hash"), ask("", "no hash")
    assert made[4:] == ["long", "long", "no hash", "no hash"]


def test_what_is_given_out_may_be_changed() -> None:
    kept = KeptSubgraphs()
    for _ in range(2):
        found = kept.of("one", Question("q"), 5, lambda: [Subgraph()])
        found.clear()
    assert len(kept.of("one", Question("q"), 5, list)) == 1 and kept.hits == 2
