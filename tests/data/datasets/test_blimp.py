import io
import json
import tarfile
from pathlib import Path

import pytest
import zstandard

from kgqa.data.datasets.labelled import read_blimp
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
