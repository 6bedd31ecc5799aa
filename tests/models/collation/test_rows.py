from kgqa.models.collation.rows import MAX_MENTION_TOKENS, Pieces, RowBuilder, mention_places, mentions_of_row
from kgqa.types import Link, NodeRole, Subgraph


def test_every_row_has_its_own_copy_of_the_subgraph(digging) -> None:
    parts = RowBuilder()
    passage = Pieces([7, 8, 9], [(0, 1), (2, 5), (6, 9)])
    for left in (0, 1):
        ids = [1, 5, 2, *passage.ids[left : left + 2], 2]
        assert parts.add_row(0, -1, ids, [0] * 6, passage, 3, left, digging) == left
    offsets = [list(row.offsets) for row in parts.rows]
    assert offsets == [[(0, 0)] * 3 + [(0, 1), (2, 5)], [(0, 0)] * 3 + [(2, 5), (6, 9)]]
    assert [row.first_node for row in parts.rows] == [0, len(digging.nodes) + 1]
    assert [row.first_edge for row in parts.rows] == [0, len(digging.edges)]


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
    assert len(mention_places(graph, {NodeRole.QUESTION: words})[NodeRole.QUESTION]) == MAX_MENTION_TOKENS
