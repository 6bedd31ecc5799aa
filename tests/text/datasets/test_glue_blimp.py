import io
import json
import tarfile
from pathlib import Path

import pytest
import zstandard

from kgqa.text.datasets.glue_blimp import JUDGED, Judged, read_blimp
from kgqa.types import InputError


def write_blimp(folder: Path, packed: bool, pairs: int = 3) -> Path:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for paradigm in ("agreement", "islands"):
            lines = "".join(
                json.dumps(
                    {"UID": paradigm, "sentence_good": f"They rest {n}.", "sentence_bad": "They rests."}
                )
                + "\n"
                for n in range(pairs)
            ).encode()
            member = tarfile.TarInfo(f"data/{paradigm}.jsonl")
            member.size = len(lines)
            tar.addfile(member, io.BytesIO(lines))
        note = tarfile.TarInfo("data/README")
        tar.addfile(note, io.BytesIO())
    folder = folder / "qa" / "blimp"
    folder.mkdir(parents=True)
    path = folder / ("blimp_67x1000.jsonl.tar" + ".zst" * packed)
    path.write_bytes(zstandard.compress(archive.getvalue()) if packed else archive.getvalue())
    return path


@pytest.mark.parametrize("packed", [True, False])
def test_blimp_by_paradigm(packed: bool, tmp_path: Path) -> None:
    write_blimp(tmp_path, packed)
    assert len(read_blimp(tmp_path)) == 6
    pairs = read_blimp(tmp_path, 1)
    assert [p.paradigm for p in pairs] == ["agreement", "islands"]
    assert (pairs[0].good, pairs[0].bad) == ("They rest 0.", "They rests.")


def test_a_damaged_archive_is_named(tmp_path: Path) -> None:
    path = write_blimp(tmp_path, True)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(InputError, match="not BLiMP's archive"):
        read_blimp(tmp_path)
    with pytest.raises(InputError, match="blimp_67x1000"):
        read_blimp(tmp_path / "elsewhere")


FILES = {
    "cola": ("CoLA/in_domain_{}.tsv", "gj04\t1\t\tThey dig.\nbc01\t0\t*\tThey digs the.\n"),
    "sst2": ("SST-2/{}.tsv", "sentence\tlabel\na fine spade \t1\na dull film \t0\n"),
    "rte": (
        "RTE/{}.tsv",
        "index\ta\tb\tlabel\n0\tA dug.\tB dug.\tentailment\n1\tA dug.\tC.\tnot_entailment\n",
    ),
}
FIRST = {
    "cola": Judged("They dig.", "", 1),
    "sst2": Judged("a fine spade", "", 1),
    "rte": Judged("A dug.", "B dug.", 1),
}


@pytest.mark.parametrize("task", sorted(JUDGED))
@pytest.mark.parametrize("split", ["train", "dev"])
def test_glue_files(task: str, split: str, tmp_path: Path) -> None:
    name, text = FILES[task]
    path = tmp_path / "glue" / name.format(split)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    rows = JUDGED[task](tmp_path, split)
    assert len(rows) == 2 and rows[0] == FIRST[task] and rows[1].label == 0


def test_a_short_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "glue" / "CoLA" / "in_domain_dev.tsv"
    path.parent.mkdir(parents=True)
    path.write_text("gj04\t1\t\tThey dig.\nbroken\n")
    with pytest.raises(InputError, match="in_domain_dev.tsv:2: 1 columns of 4"):
        JUDGED["cola"](tmp_path, "dev")
