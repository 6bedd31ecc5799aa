from kgqa.limits.text_cache import cached_by_length


def test_what_was_asked_last_is_remembered_as_far_as_there_is_room() -> None:
    worked: list[str] = []

    @cached_by_length(len, room=1_100)
    def doubled(text: str) -> str:
        worked.append(text)
        return text * 2

    for text in ("a", "b", "a", "c" * 700, "a", "b"):
        assert doubled(text) == text * 2
    assert worked == ["a", "b", "c" * 700]
    doubled("d" * 100)  # the first to go is what was not asked for longest
    doubled("c" * 700)
    assert worked[3:] == ["d" * 100, "c" * 700]
    for _ in "12":
        doubled("e" * 2_000)  # never kept
    assert worked[5:] == ["e" * 2_000] * 2
