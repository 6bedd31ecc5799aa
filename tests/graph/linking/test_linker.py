from __future__ import annotations

import numpy as np
import pytest

from kgqa.graph.linking.label_keys import BOOLEAN, XSD
from kgqa.graph.linking.linker import Linker
from kgqa.graph.storage.store import GraphStore
from kgqa.types import Label, Triple


def linked(toy, text: str, **options) -> list[tuple[str, list[str]]]:
    mentions = Linker(toy, **options).link(text)
    return [(text[m.start : m.end], toy.labels(np.array(m.entities))) for m in mentions]


def first(toy, text: str) -> dict[str, str]:
    return {surface: labels[0] for surface, labels in linked(toy, text)}


@pytest.mark.parametrize(
    ("text", "surface", "concept"),
    [
        ("We plant flowers.", "plant flowers", "plant flowers"),
        ("She planted my flowers", "planted my flowers", "plant flowers"),
        ("I want to plant some lovely flowers, so", "plant some lovely flowers", "plant flowers"),
        ("The flowers were planted in May.", "flowers were planted", "plant flowers"),
        ("the flowers that I planted", "flowers that I planted", "plant flowers"),
        ("Planting the flowers", "Planting the flowers", "plant flowers"),
        ("I am building a very big house", "building a very big house", "build a house"),
        ("He dug the ground up.", "dug the ground up", "dig up"),
        ("digging up bones", "digging up", "dig up"),
        ("dig the foundations", "dig the foundations", "dig the foundation"),
        ("He dug a very small hole", "dug a very small hole", "dig a small hole"),
        ("My hands were dirty after the garden, so I washed them.", "washed them", "wash hands"),
        ("I need a saw", "saw", "saw"),
        ("an ice-cream", "ice-cream", "ice cream"),
        ("The house's door", "house's", "house"),
    ],
)
def test_finds_concepts_however_they_are_said(toy, text, surface, concept):
    assert first(toy, text)[surface] == concept


def test_a_text_may_begin_with_a_mark(toy):
    assert linked(toy, ". A saw") == linked(toy, "A saw") != []


def test_a_verb_phrase_keeps_its_words_and_a_compound_does_not(toy):
    assert set(first(toy, "I dig the foundation")) == {"dig the foundation", "dig", "foundation"}
    assert set(first(toy, "I like ice cream")) == {"ice cream"}


@pytest.mark.parametrize("text", ["", "   ", "?!", "What did I do?", "in the", "plant. Flowers"])
def test_nothing_comes_of_function_words_or_across_sentences(toy, text):
    assert "plant flowers" not in {c for _, labels in linked(toy, text) for c in labels}
    if "lant" not in text:
        assert linked(toy, text) == []


def test_an_object_is_not_taken_over_another_verb(toy):
    assert "build a house" not in first(toy, "They build and they sold the house").values()


def test_seeing_is_no_saw(toy):
    assert linked(toy, "Who should she see?") == []


def test_ranges_cover_the_text_in_order(toy):
    text = "  Ground; the GROUND — ground’s"
    mentions = Linker(toy).link(text)
    assert [text[m.start : m.end].lower() for m in mentions] == ["ground", "ground", "ground’s"]
    assert [m.start for m in mentions] == sorted(m.start for m in mentions)


def test_many_texts_cost_one_question_and_known_words_none(toy):
    linker = Linker(toy)
    both = linker.link_many(["plant flowers", "", "the house"])
    assert [len(m) for m in both] == [1, 0, 1]
    assert toy.asked == ["find"]
    assert linker.link_many(["the house"]) == [both[2]]
    assert toy.asked == ["find"]


def test_candidates_are_bounded(graph_of):
    graph = graph_of(
        [("bat (animal)", "IsA", "mammal"), ("bat (club)", "IsA", "club")], {"bat": "bat (animal)"}
    )
    assert all(len(m.entities) <= 1 for m in Linker(graph, max_candidates=1).link("a bat and a club"))


def test_a_person_is_no_thing(graph_of):
    graph = graph_of([("jack", "IsA", "tool"), ("rose", "IsA", "flower"), ("Felix", "IsA", "cat")], {})
    assert linked(graph, "Jack lifted the car, said Rose.") == []
    assert linked(graph, "We gave Rose a rose.") == [("rose", ["rose"])]
    assert linked(graph, "I need a jack for Felix.") == [("jack", ["jack"]), ("Felix", ["Felix"])]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("나는 정원에서 삽으로 땅을 팠다.", {"정원에서": "정원", "삽으로": "삽", "땅을 팠다": "땅을 파다"}),
        ("꽃을 심고 싶어서 모종 삽을 샀다", {"꽃을 심고": "꽃을 심다", "모종 삽을": "모종 삽"}),
        ("의사에게는 갔나?", {"의사에게는": "의사"}),
        ("나무을", {}),
    ],
)
def test_korean_words_are_linked_without_their_particles(graph_of, text, found):
    concepts = ["정원", "삽", "땅을 파다", "꽃을 심다", "모종 삽", "의사", "나무"]
    graph = graph_of([(concept, "IsA", "thing") for concept in concepts])
    assert first(graph, text) == found


def test_a_korean_word_that_is_a_label_keeps_its_end(graph_of):
    graph = graph_of([("나이", "IsA", "thing"), ("나", "IsA", "thing")])
    assert linked(graph, "나이") == [("나이", ["나이"])]


def test_nearest_is_asked_about_unknown_content_words_alone(toy):
    asked: list[str] = []

    def nearest(surfaces):
        asked.extend(surfaces)
        return [[(toy.id("spade"), 0.8)] if s == "digger" else [] for s in surfaces]

    text = "the digger was in the zyx house of Zoltan"
    assert ("digger", ["spade"]) in linked(toy, text, nearest=nearest)
    assert asked == ["digger", "zyx"], "a name is no slip of a label"
    (mention,) = Linker(toy, nearest=nearest).link("Digger")
    assert 0 < mention.certainty < 0.8, "what is near counts for less than what matches"


def test_max_words_bounds_a_concept(toy):
    text = "foundation of a house"
    assert all(" " not in surface for surface, _ in linked(toy, text, max_words=1))


def test_parts_of_names_brackets_and_values() -> None:
    output = [("m", "Marie Curie"), ("s", "Solaris (film)"), ("k", "Otto Krumme")]
    output += [(f"b{i}", f"Baker {i} Street") for i in range(9)]
    facts = [Triple(f"x:{name}", "x:knows", "x:m") for name, _ in output[1:]]
    facts += [
        Triple("x:m", "x:born", f'"1867-11-07"^^<{XSD}date>'),
        Triple("x:m", "x:dead", f'"true"^^<{BOOLEAN}>'),
    ]
    graph = GraphStore.from_triples(facts, [Label(f"x:{name}", text) for name, text in output])
    linker = Linker(graph)

    def linked(text: str) -> list[tuple[str, float]]:
        return [
            (label, m.certainty) for m in linker.link(text) for label in graph.labels(np.array(m.entities))
        ]

    assert linked("Where was Curie born?") == [("Marie Curie", 0.5)]
    assert linked("Is Solaris good?") == [("Solaris (film)", 1.0)]
    assert linked("What is Otto Krumme's job?") == [("Otto Krumme", 1.0)]
    assert linked("Who was born in 1867?") == [("7 November 1867", 0.5)]
    assert linked("Who was born on 7 November 1867?") == [("7 November 1867", 1.0)]
    assert linked("Who was born on 1867-11-07?") == [("7 November 1867", 1.0)]
    assert linked("Who is in Baker Street, yes or no?") == []


def test_the_only_thing_that_is_so_named_is_meant() -> None:
    output = {
        "c": "Marine Chronometer No. 418",
        "l": "Letter No. 17",
        "g": "Beef goulash",
        "v": "Harbour View",
    }
    output |= {"x": "Cash box", "m": "St. Mary Chapel", "a": "Red Lantern", "b": "Blue Lantern"}
    facts = [Triple(f"x:{name}", "x:keptInBox", "x:c") for name in output]
    graph = GraphStore.from_triples(facts, [Label(f"x:{name}", text) for name, text in output.items()])

    def linked(text: str) -> list[str]:
        linker = Linker(graph)
        return [label for m in linker.link(text) for label in graph.labels(np.array(m.entities))]

    assert linked("Who made Marine Chronometer No. 418?") == ["Marine Chronometer No. 418"]
    assert linked("Who made No. 418?") == ["Marine Chronometer No. 418"]
    assert linked("When was the chronometer made?") == ["Marine Chronometer No. 418"]
    assert linked("What is in the goulash?") == ["Beef goulash"]
    assert linked("Where is St. Mary Chapel?") == ["St. Mary Chapel"]
    assert linked("Which chronometer was kept?") == linked("Is there a goulash?") == [], "any of them"
    assert linked("Where is the lantern?") == [], "there are two"
    assert linked("What stands in the box?") == [], "which the graph has a relation for"
    assert linked("What is the view of the harbour?") == ["Harbour View"], "a view, and no harbour"
    assert linked("Was it made in the year no. 418?") == ["Marine Chronometer No. 418"]
    assert linked("He said no. Letters came.") == []


def test_near_labels_are_sought_once_for_a_word_however_often_it_stands(toy) -> None:
    asked: list[str] = []

    def nearest(surfaces):
        asked.extend(surfaces)
        return [[(0, 0.9)] if surface == "diggger" else [] for surface in surfaces]

    found = Linker(toy, nearest=nearest).link("diggger " * 50 + "의 " * 500)
    assert sorted(asked) == ["diggger", "의"] and len(found) == 50


def test_words_of_other_languages_are_found_inflected_elided_or_without_blanks():
    """„Fugen" is a form of „Fuge", « l'oreiller » has an article before it, and Japanese has no blanks."""
    rows = {
        "joint": ("Fuge", "de"),
        "pillow": ("oreiller", "fr"),
        "dry": ("secar", "es"),
        "quilt": ("布団", "ja"),
    }
    labels = [Label(f"x:{n}", text, code) for n, own in rows.items() for text, code in ((n, "en"), own)]
    graph = GraphStore.from_triples([Triple(f"x:{n}", "x:near", "x:joint") for n in rows], labels)
    texts = [("Die Fugen sind grau.", "de", "Fugen"), ("Elle secoue l'oreiller.", "fr", "l'oreiller")]
    texts += [("Secaban la ropa.", "es", "Secaban"), ("押し入れに布団を入れた。", "ja", "布団")]
    for (text, language, surface), name in zip(texts, rows, strict=True):
        (mentions,) = Linker(graph).link_many([text], language)
        found = {text[m.start : m.end]: graph.labels(np.array(m.entities)) for m in mentions}
        assert found.get(surface) == [name], text


def test_a_concept_is_found_by_its_names_in_the_language_alone():
    """German "die" is no dice and "Rat" no rat, unless a graph has no German for it."""
    labels = [
        Label("x:dice", "die"),
        Label("x:dice", "Würfel", "de"),
        Label("x:rat", "rat"),
        Label("x:b", "Ben Ness"),
    ]
    labels += [Label("x:rat", "Ratte", "de"), Label("x:advice", "advice"), Label("x:advice", "Rat", "de")]
    graph = GraphStore.from_triples(
        [Triple(f"x:{n}", "x:near", "x:b") for n in ("dice", "rat", "advice")], labels
    )
    text = "Die Frau gibt Ben Ness einen Rat und keine Ratten."
    (mentions,) = Linker(graph).link_many([text], "de")
    found = {text[m.start : m.end]: graph.labels(np.array(m.entities)) for m in mentions}
    assert found == {"Ben Ness": ["Ben Ness"], "Rat": ["advice"], "Ratten": ["rat"]}


def test_japanese_words_are_found_in_their_dictionary_form() -> None:
    """「入れました」 is 入れる, and no たか (hawk) is in it; without an analyser labels as written are found."""
    labels = [
        Label("x:put", "put in"),
        Label("x:put", "入れる", "ja"),
        Label("x:hawk", "hawk"),
        Label("x:hawk", "たか", "ja"),
    ]
    labels += [Label("x:lid", "put on the lid"), Label("x:lid", "ふたをする", "ja")]
    graph = GraphStore.from_triples(
        [Triple(f"x:{n}", "x:near", "x:put") for n in ("put", "hawk", "lid")], labels
    )
    for text, expected in (("米を入れましたか。", "put in"), ("鍋にふたをした", "put on the lid")):
        (mentions,) = Linker(graph).link_many([text], "ja")
        assert [graph.labels(np.array(m.entities)) for m in mentions] == [[expected]]
