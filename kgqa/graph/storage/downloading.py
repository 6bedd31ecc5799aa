"""Official graphs by name: downloaded, or from a file on disk, with their licence and credit."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgqa.graph.storage.importing import import_graph
from kgqa.graph.storage.writer import Progress
from kgqa.types import InputError

_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class Official:
    """Where a graph is published, and on what terms. `smallest` and `largest` are sane sizes in bytes."""

    url: str
    licence: str
    credit: str
    smallest: int
    largest: int


OFFICIAL = {
    "conceptnet": Official(
        "https://s3.amazonaws.com/conceptnet/downloads/2019/edges/conceptnet-assertions-5.7.0.csv.gz",
        "CC BY-SA 4.0 (https://creativecommons.org/licenses/by-sa/4.0/)",
        "ConceptNet 5.7 by Robyn Speer, Joshua Chin and Catherine Havasi (2017), https://conceptnet.io",
        400 << 20,
        600 << 20,
    ),
    "wordnet": Official(
        "https://wordnetcode.princeton.edu/wn3.1.dict.tar.gz",
        "WordNet 3.1 license (https://wordnet.princeton.edu/license-and-commercial-use)",
        "WordNet 3.1, Princeton University (Miller, 1995; Fellbaum, 1998), https://wordnet.princeton.edu",
        5 << 20,
        60 << 20,
    ),
}


def get_graph(
    name: str,
    folder: Path,
    source: Path | None = None,
    languages: tuple[str, ...] = ("en",),
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Import the official graph `name` into `folder` and return the manifest.

    Without `source`, the file is first downloaded beside `folder`; a download cut short is resumed by the
    next call. Raises `InputError` where the name, the size or the content is not what it should be.
    """
    official = OFFICIAL.get(name)
    if official is None:
        raise InputError(f"{name}: not known; choose {' or '.join(OFFICIAL)}")
    if source is None:
        source = download(official, folder.parent, progress)
    return import_graph(
        [source],
        folder,
        name=name,
        languages=languages,
        licence=official.licence,
        credit=official.credit,
        progress=progress,
    )


def download(official: Official, folder: Path, progress: Progress | None = None) -> Path:
    """The file of an official graph in `folder`, fetched where it is not there; its size is checked.

    Raises:
        InputError: it cannot be fetched, or not whole.
    """
    target = folder / official.url.rsplit("/", 1)[-1]
    if target.is_file():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "kgqa/0.1"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        with urllib.request.urlopen(
            urllib.request.Request(official.url, headers=headers), timeout=60
        ) as answer:
            if answer.status != 206:
                have = 0
            total = have + int(answer.headers.get("Content-Length") or 0)
            if not official.smallest <= total <= official.largest:
                raise InputError(
                    f"{official.url}: {total:,} bytes are not the size it should have; use --from FILE"
                )
            with part.open("ab" if have else "wb") as file:
                while data := answer.read(_CHUNK):
                    file.write(data)
                    have += len(data)
                    if progress:
                        progress("downloading (KiB)", have >> 10)
    except urllib.error.HTTPError as error:
        if error.code == 416:
            part.unlink(missing_ok=True)
        raise InputError(f"{official.url}: HTTP {error.code}; fetch it by hand and use --from FILE") from None
    except OSError as error:
        reason = getattr(error, "reason", error)
        raise InputError(f"{official.url}: {reason}; run again to resume, or use --from FILE") from None
    if have != total:
        raise InputError(f"{official.url}: {have:,} of {total:,} bytes came; run again to resume")
    os.replace(part, target)
    return target
