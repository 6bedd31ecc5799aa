from apps.classroom import MAX_ROOMS, Room, Rooms, options_of, qr_code
from kgqa.types import Answer, Candidate, Question, Source


def test_each_pupil_votes_once_and_until_the_answer_is_shown() -> None:
    room = Room()
    room.vote("a", "trowel")  # nothing is asked yet
    room.ask("", "What?", ["spade", "trowel"])
    for pupil, option in (("a", "spade"), ("b", "trowel"), ("a", "trowel"), ("c", "<b>")):
        room.vote(pupil, option)
    room.is_open = False
    room.vote("d", "spade")
    assert room.tally == [("spade", 0), ("trowel", 2)]
    room.ask("", "Why?", ["x"])
    assert room.tally == [("x", 0)] and room.asked == 2


def test_rooms_are_few_and_codes_no_guess() -> None:
    rooms = Rooms()
    codes = [rooms.open() for _ in range(MAX_ROOMS + 1)]
    assert len(set(codes)) == MAX_ROOMS + 1 and codes[0] not in rooms and codes[-1] in rooms


def test_the_order_of_options_does_not_tell_the_answer() -> None:
    scores = {"trowel": 0.97, "spade": 0.01, "pickaxe": 0.001}  # a sure answer is not the only option
    found = [Candidate(text, Source.KNOWLEDGE, score, concept=text) for text, score in scores.items()]
    answer = Answer(Question("What?"), "trowel", Source.KNOWLEDGE, 0.3, tuple(found))
    assert options_of(answer, "none") == ["pickaxe", "spade", "trowel", "none"]
    chosen = Answer(Question("What?", ("b", "a")), "b", Source.CHOICE, 0.3)
    assert options_of(chosen, "none") == ["a", "b", "none"]


def test_an_address_is_a_picture() -> None:
    picture = qr_code("http://127.0.0.1:8501/?room=abc")
    assert picture.startswith("<svg") and "<path" in picture
