"""KoBEST's rows become questions; what asks for nothing is left out."""

from __future__ import annotations

from pathlib import Path

from kgqa.data.datasets.load import ASKED, NEXT, load_dataset

FILES = {
    "BoolQ": 'ID\tText\tQuestion\tAnswer\n1\t비글은 "활동적인" 개다.\t비글은 개다.\tTrue\n',
    "COPA": "ID\tsentence\tquestion\t1\t2\tAnswer\n7\t비가 왔다.\t결과 \t땅이 젖었다.\t해가 떴다.\t1\n"
    "8\t\tquestion\t\t\tAnswer\n",
    "HellaSwag": "context\tchoice1\tchoice2\tchoice3\tchoice4\tlabel\n물을 끓인다.\t하나\t둘\t셋\t넷\t3\n",
}


def test_rows_of_kobest(tmp_path: Path) -> None:
    folder = tmp_path / "qa" / "ko" / "kobest"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / f"{name}.train.tsv").write_text(text, encoding="utf-8")
    (boolq,), (copa,), (hellaswag,) = (
        list(load_dataset(f"kobest-{name.lower()}-train", tmp_path)) for name in FILES
    )
    assert boolq.yes_no_label is True and boolq.question.passage_text == '비글은 "활동적인" 개다.'
    assert copa.question.text == ASKED["결과"] and copa.question.choices[copa.choice or 0] == "땅이 젖었다."
    assert hellaswag.question.text == NEXT and hellaswag.choice == 3
