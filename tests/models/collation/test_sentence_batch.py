import pytest
from tokenizers import Tokenizer, models

from kgqa.models.collation.sentence_batch import SpecialTokens, pad_rows, sentence_ids, special_tokens_of
from kgqa.types import InputError


def test_marks_of_other_families() -> None:
    gpt2 = Tokenizer(models.WordLevel({"a": 0, "<|endoftext|>": 1}, unk_token="a"))
    assert special_tokens_of(gpt2) == SpecialTokens(1, 1, 0, None)
    roberta = Tokenizer(
        models.WordLevel({"<s>": 0, "<pad>": 1, "</s>": 2, "<mask>": 3, "a": 4}, unk_token="a")
    )
    assert special_tokens_of(roberta) == SpecialTokens(0, 2, 1, 3) and special_tokens_of(roberta).all == {
        0,
        1,
        2,
        3,
    }
    with pytest.raises(InputError, match="another encoder"):
        special_tokens_of(Tokenizer(models.WordLevel({"a": 0}, unk_token="a")))


def test_pairs_are_cut_at_the_longer_part(tokenizer) -> None:  # type: ignore[no-untyped-def]
    special_tokens = special_tokens_of(tokenizer)
    (ids, begin), (alone, end) = sentence_ids(tokenizer, ["dig a hole", "dig"], ["with a trowel", ""])
    assert ids.count(special_tokens.end) == 2 and ids[begin - 1] == special_tokens.end and ids[begin:] != []
    assert alone[0] == special_tokens.start and alone[-1] == special_tokens.end and end == len(alone)
    ((long, begin),) = sentence_ids(tokenizer, ["dig " * 40], ["a hole"], max_tokens=16)
    assert len(long) == 16 and len(long) - begin == 3, "the short one is whole"
    ((both, begin),) = sentence_ids(tokenizer, ["dig " * 40], ["hole " * 40], max_tokens=17)
    assert len(both) == 17 and abs(2 * begin - len(both)) < 4, "both share the room"


def test_rows_are_padded_and_segments_marked() -> None:
    batch = pad_rows([([2, 9, 3, 8, 3], 3), ([2, 7, 3], 3)], pad=0)
    assert batch.input_ids.tolist() == [[2, 9, 3, 8, 3], [2, 7, 3, 0, 0]]
    assert batch.token_type_ids.tolist() == [[0, 0, 0, 1, 1], [0] * 5]
    assert batch.attention_mask.sum(1).tolist() == [5, 3]
