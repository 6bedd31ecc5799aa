"""Forms are parsed and printed without loss; what is none is refused in one line."""

from __future__ import annotations

import pytest

from kgqa.qa.logical_forms.language import Form, parse, paths, show, subforms
from kgqa.types import InputError

FORMS = (
    '(JOIN (R director) "Silent Harbour")',
    '(FILTER > released "2015" (AND (CLASS "Film") (JOIN director "Ilse Brandt")))',
    '(COMPARE > (VALUES beds "Ward 3") (VALUES beds "Ward 4"))',
    '(DIFFERENCE (VALUES beds "Ward 3") (VALUES beds "Ward 4"))',
    '(MINUS (CLASS "Train") (JOIN stopsAt "Ulm"))',
    '(EXISTS (AND "Mia Orbell" (JOIN plays "harp")))',
    '(ARGMAX salary (CLASS "Person") 2)',
    '(ARGMIN (COUNT (R director)) (CLASS "Person"))',
    '(JOIN (R driver) (ARGMAX topSpeed (CLASS "Van")))',
    '(FILTER between (PATH weight value) "2" "9" (SET "a" "b \\"c"))',
    '(FILTER >= (COUNT (R owner)) "2" (CLASS "Person"))',
    '(FILTER > height (VALUES height "Ash") (CLASS "Tree"))',
    '(AVG weight (CLASS "Crate"))',
    '(COUNT (JOIN "stops at" "Ulm"))',
)
BAD = (
    "(",
    "(FOO x)",
    '(COUNT (COUNT "a"))',
    '"a',
    "a b",
    "(JOIN r)",
    "(" * 100,
    "()",
    "(R a)",
    "",
    "(ARGMAX r a 0)",
    '(FILTER > (COUNT r) "2 kg" a)',
    "(FILTER > r (VALUES q b) a)",
)


class Names:
    """Numbers for names, in the order in which they come."""

    def __init__(self) -> None:
        self.known: list[str] = []

    def __call__(self, text: str) -> int:
        if text not in self.known:
            self.known.append(str(text))
        return self.known.index(text)

    def parse(self, text: str) -> Form:
        return parse(text, self, self)


@pytest.mark.parametrize("text", FORMS)
def test_printed_as_parsed(text: str) -> None:
    names = Names()
    form = names.parse(text)
    assert show(form, names.known.__getitem__, names.known.__getitem__) == text


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_form_is_refused(text: str) -> None:
    with pytest.raises(InputError) as output:
        Names().parse(text)
    assert "\n" not in str(output.value)


def test_parts_and_paths() -> None:
    names = Names()
    form = names.parse('(COUNT (FILTER > released "2015" (JOIN director "Ilse")))')
    assert [type(part).__name__ for part in subforms(form)] == ["Count", "Filter", "Join", "Entities"]
    assert [names.known[path[0].relation] for path in paths(form)] == ["released", "director"]
