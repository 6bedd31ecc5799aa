import random

from kgqa.data.synthetic.passages import (
    SHE,
    I,
    Person,
    event_forms,
    expand,
    fill,
    needs,
)


def test_events_take_the_person_along() -> None:
    assert event_forms("brush teeth", SHE) == {
        "e": "brush her teeth",
        "ed": "brushed her teeth",
        "ing": "brushing her teeth",
    }
    assert event_forms("be kind", Person("the boys", "they", "them", "their", True))["ed"] == "were kind"
    assert event_forms("find your way", I)["ing"] == "finding my way"


def test_templates_expand_and_fill() -> None:
    template = "(what|which tool) did {q} use(| then)?"
    forms = {fill(expand(template, random.Random(i)), {"q": "she"}) for i in range(60)}
    assert len(forms) == 4
    assert "Which tool did she use then?" in forms
    assert needs(template) == {"q"}


def test_agreement() -> None:
    assert (I.slots()["is"], I.slots()["has"], SHE.slots()["does"]) == ("am", "have", "does")
