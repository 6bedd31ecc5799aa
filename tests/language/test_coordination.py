import pytest

from kgqa.language.coordination import parts


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("light, water and carbon dioxide", ["light", "water", "carbon dioxide"]),
        ("bread, cheese, or jam", ["bread", "cheese", "jam"]),
        ("bread and juice", ["bread", "juice"]),
        ("a wooden spoon", []),
        ("Paris, France", []),
        ("1,200", []),
        ("Anna gave a party. Paul, Julia and Karin", []),
        ("the old keeper climbed the steep stairs and lit the lamp", []),
    ],
)
def test_what_commas_and_a_last_and_join_is_several_things(text: str, things: list[str]) -> None:
    assert [text[start:end] for start, end in parts(text)] == things
