from kgqa.models.collation.person_masking import Pieces
from kgqa.models.collation.rows import Parts


def test_every_row_has_its_own_copy_of_the_subgraph(digging) -> None:
    parts = Parts()
    passage = Pieces([7, 8, 9], [(0, 1), (2, 5), (6, 9)])
    for left in (0, 1):
        ids = [1, 5, 2, *passage.ids[left : left + 2], 2]
        assert parts.add_row(0, -1, ids, [0] * 6, passage, 3, left, digging) == left
    offsets = [list(row.offsets) for row in parts.rows]
    assert offsets == [[(0, 0)] * 3 + [(0, 1), (2, 5)], [(0, 0)] * 3 + [(2, 5), (6, 9)]]
    assert [row.first_node for row in parts.rows] == [0, len(digging.nodes) + 1]
    assert [row.first_edge for row in parts.rows] == [0, len(digging.edges)]
