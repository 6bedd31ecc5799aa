from kgqa.models.collation.mentions import MOST_TOKENS, mention_places, mentions_of_row
from kgqa.models.collation.person_masking import Pieces
from kgqa.types import Link, NodeRole, Subgraph


def test_a_mention_covers_its_tokens_and_moves_with_its_part() -> None:
    words = Pieces([7, 8, 9], [(0, 3), (4, 8), (9, 12)])
    graph = Subgraph(links=(Link(NodeRole.PASSAGE, 4, 12, 5), Link(NodeRole.QUESTION, 0, 3, 6)))
    places = mention_places(graph, {NodeRole.PASSAGE: words})
    assert places == {NodeRole.PASSAGE: [(1, 0, 5), (2, 0, 5)]}
    seen = {NodeRole.PASSAGE: (10, 0, 2), NodeRole.QUESTION: (1, 0, 3)}
    assert mentions_of_row(places, seen, 3, 100) == [(3, 11, 105)]  # the third token is beyond the window


def test_of_a_long_mention_a_few_tokens_count() -> None:
    words = Pieces(list(range(9)), [(2 * i, 2 * i + 1) for i in range(9)])
    graph = Subgraph(links=(Link(NodeRole.QUESTION, 0, 18, 0),))
    assert len(mention_places(graph, {NodeRole.QUESTION: words})[NodeRole.QUESTION]) == MOST_TOKENS
