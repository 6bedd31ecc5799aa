from kgqa.graph.storage.foreign_words import in_english
from kgqa.graph.storage.relation_names import name_relations


def test_german_labels_are_read_by_their_parts_where_most_are_german() -> None:
    labels = ["Betreiber", "Art", "gegründet von", "Endbahnhof", "Xylomat"]
    assert in_english(labels) == ["operator", "type", "founded by", "end station", ""]
    assert in_english(["art", "made by", "name", "sponsor"]) == ["", "", "", ""]


def test_korean_labels_are_read_whatever_stands_beside_them() -> None:
    assert in_english(["지도교수", "선수 과목", "made by"]) == ["supervisor", "prerequisite", ""]


def test_a_relation_keeps_its_label_and_the_words_it_has() -> None:
    labels = {"p1": ("지도교수",), "p2": ("고향",)}
    first, second = name_relations(["p1", "p2"], labels=labels)
    assert (first.label, first.words, second.words) == ("지도교수", "supervisor", "hometown")
