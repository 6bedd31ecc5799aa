import pytest

from kgqa.graph.linking.normalize import given_names, people


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Ngozi's spade broke, so Ji-woo asked Jack.", ["Ngozi", "Ji-woo", "Jack"]),
        ("Rose wanted to bake. What did Rose use?", ["Rose", "Rose"]),
        ("Bill paid the bill.", ["Bill"]),
        ("Then Hazel's hammer broke.", ["Hazel"]),
        ("Rose petals fell. Mark the spot. Jack up the car.", []),
        ("San Francisco, Santa Clara and the rose garden", []),
        ("JACK, the DIY man", []),
        ("Dr. Quillby and Mr Xu left. Quillby ran; Hill hid.", ["Quillby", "Xu", "Quillby"]),
        ("José met Łukasz, Élodie and Zoë's cat.", ["José", "Łukasz", "Élodie", "Zoë"]),
        ("", []),
    ],
)
def test_people(text: str, named: list[str]) -> None:
    assert [text[start:end] for start, end in people(text)] == named


def test_a_name_is_in_one_list() -> None:
    names, words_too = given_names()
    assert not names & words_too
    assert all(name[0].isupper() and name.isascii() and len(name) > 1 for name in names | words_too)
