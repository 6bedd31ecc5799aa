from kgqa.language.overlap import content, overlap


def test_words_are_compared_in_their_base_form() -> None:
    assert overlap("Who won the cup", "won by") == overlap("Did Ann win it", "won by") == 1
    assert (
        overlap("How many seats has the hall", "number of seats") == 1 and overlap("Who sings", "depth") == 0
    )
    assert "win" in content("won") and "the" not in content("the cup")


def test_a_doer_and_an_irregular_past_are_their_verb() -> None:
    assert overlap("Who won it?", "winner") == overlap("the winner of it", "won by") == 1
    assert overlap("Who is the father?", "fathom") < 1
