from kgqa.data.augment import renamed, with_choices
from kgqa.types import Example, Passage, Question, Span

DUG = "What did I dig with?"


def knows(passage: str, *answers: str, question: str = DUG, kind: str = "instrument") -> Example:
    return Example(Question(question, passage=Passage(passage)), concepts=answers, kind=kind)


SET = [
    knows("I planted flowers.", "trowel", "spade"),
    knows("I built a house.", "excavator"),
    knows("The soup was hot.", "spoon", question="What did I eat with?"),
    knows("It was bread.", "knife", question="What did I cut with?"),
    knows("The ground was ice.", "pickaxe", "garden spade", question="What did I break it with?"),
    knows("She dug there.", question="When?"),
    knows("He ran home.", "rain", question="Why?", kind="why"),
]


def test_the_answer_stands_among_likely_others() -> None:
    made = list(with_choices(SET, count=3, seed=0))
    assert len(made) == 5  # none without an answer, none without others of its kind
    for example in made:
        choices = example.question.choices
        assert example.choice is not None and len(set(choices)) == 3 and "rain" not in choices
    flowers = made[0]
    assert flowers.choice is not None and flowers.question.choices[flowers.choice] in ("trowel", "spade")
    assert "excavator" in flowers.question.choices  # the same question in another situation


def test_no_accepted_answer_is_a_wrong_choice() -> None:
    for seed in range(30):
        flowers = next(iter(with_choices(SET, count=4, seed=seed)))
        wrong = set(flowers.question.choices) - {flowers.question.choices[flowers.choice or 0]}
        assert not wrong & {"trowel", "spade", "garden spade"}


def test_the_same_for_one_seed_and_other_orders_for_others() -> None:
    first = [e.question.choices for e in with_choices(SET, count=3, seed=1)]
    assert first == [e.question.choices for e in with_choices(SET, count=3, seed=1)]
    places = {next(iter(with_choices(SET, count=3, seed=seed))).choice for seed in range(30)}
    assert places == {0, 1, 2}


def example(passage: str, question: str = "What did she use?", **gold: object) -> Example:
    return Example(Question(question, passage=Passage(passage)), **gold)  # type: ignore[arg-type]


def test_first_pronoun_becomes_a_person_and_the_rest_stays() -> None:
    asked = example("She planted tulips, and then she watered them.", concepts=("trowel",))
    for seed in range(20):
        (copy,) = renamed([asked], seed=seed, share=1.0)
        assert copy.question.passage_text.endswith(" planted tulips, and then she watered them.")
        assert not copy.question.passage_text.startswith("She") and copy.concepts == ("trowel",)
        assert copy.question.passage_text[0].isupper()


def test_a_name_changes_in_passage_and_question_alike() -> None:
    asked = example("On Monday Nadia cut the bread.", "What did Nadia cut it with?", concepts=("knife",))
    (copy,) = renamed([asked], seed=1, share=1.0)
    passage, question = copy.question.passage_text, copy.question.text
    assert "Nadia" not in passage + question and passage.startswith("On Monday ")
    assert passage.split()[2] == question.split()[2]


def test_spans_and_passages_without_persons_are_left_out() -> None:
    reported = example("She stirred it with a spoon.", spans=(Span(17, 24),))
    nobody = example("It rained all day.", concepts=("umbrella",))
    assert not list(renamed([reported, nobody], seed=0, share=1.0))


def test_the_same_for_one_seed() -> None:
    asked = [example(f"He fixed roof {i}.", concepts=("hammer",)) for i in range(30)]
    assert list(renamed(asked, seed=3)) == list(renamed(asked, seed=3))
    assert 5 < len(list(renamed(asked, seed=3))) < 25
