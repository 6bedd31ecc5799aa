"""Import graphs of any format into one store folder, with their provenance in its manifest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgqa.graph.formats import names_in_tables, read_source
from kgqa.graph.formats.source_files import Batch, ReadOptions, Tally
from kgqa.graph.formats.sparql_client import Endpoint, is_small, read_endpoint
from kgqa.graph.formats.tables import read_object
from kgqa.graph.storage.store import GraphStore
from kgqa.graph.storage.writer import ProgressCallback, clear_abandoned, write_store
from kgqa.limits.sandbox import SandboxLimits, run_sandboxed
from kgqa.settings import put_in_place
from kgqa.types import InputError

# Published graphs by name, downloaded or from a file, with their licence and credit.

_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class Official:
    """Where a graph is published, and its licence. `smallest` and `largest` are plausible sizes in bytes."""

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
    progress: ProgressCallback | None = None,
) -> dict[str, Any]:
    """Import the published graph `name` into `folder` and return the manifest.

    Without `source`, the file is first downloaded next to `folder`; an interrupted download is resumed by the next
    call. Raises `InputError` for an unknown name, an implausible size or invalid content.
    """
    official = OFFICIAL.get(name)
    if official is None:
        raise InputError(f"{name}: unknown graph; choose {' or '.join(OFFICIAL)}")
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


def download(official: Official, folder: Path, progress: ProgressCallback | None = None) -> Path:
    """The file of a published graph in `folder`, downloaded if it does not exist; its size is checked."""
    import httpx2

    target = folder / official.url.rsplit("/", 1)[-1]
    if target.is_file():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "kgqa/0.1", "Accept-Encoding": "identity"} | (
        {"Range": f"bytes={have}-"} if have else {}
    )
    try:
        with httpx2.stream("GET", official.url, headers=headers, timeout=60, follow_redirects=True) as answer:
            answer.raise_for_status()
            if answer.status_code != 206:
                have = 0
            total = have + int(answer.headers.get("Content-Length") or 0)
            if not official.smallest <= total <= official.largest:
                raise InputError(f"{official.url}: {total:,} bytes is not a plausible size; use --from FILE")
            with part.open("ab" if have else "wb") as file:
                for data in answer.iter_raw(_CHUNK):
                    file.write(data)
                    have += len(data)
                    if progress:
                        progress("downloading (KiB)", have >> 10)
    except httpx2.HTTPStatusError as error:
        code = error.response.status_code
        if code == 416:
            part.unlink(missing_ok=True)
        raise InputError(f"{official.url}: HTTP {code}; download it yourself and use --from FILE") from None
    except (httpx2.HTTPError, OSError) as error:
        raise InputError(f"{official.url}: {error}; run again to resume, or use --from FILE") from None
    if have != total:
        raise InputError(f"{official.url}: received {have:,} of {total:,} bytes; run again to resume")
    put_in_place(part, target)
    return target


def is_url(source: str | Path) -> bool:
    """Whether a source is the URL of a SPARQL endpoint."""
    return str(source).startswith(("http://", "https://"))


def import_sandboxed(
    sources: Sequence[str | Path | Endpoint],
    folder: str | Path,
    sandbox_limits: SandboxLimits = SandboxLimits(),
    progress: ProgressCallback | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """As `import_graph`, but in a subprocess, for untrusted files: one that exhausts a native parser ends only that.
    Raises InputError as there, or if a source needs more than `sandbox_limits` allow; the message names the last one.
    """
    asked = [source.asked() if isinstance(source, Endpoint) else str(source) for source in sources]
    try:
        manifest: dict[str, Any] = run_sandboxed(
            f"{__name__}:import_in_child",
            str(getattr(sources[-1], "url", sources[-1])),
            sandbox_limits,
            report=progress,
            sources=asked,
            folder=str(folder),
            settings=settings,
        )
    finally:
        clear_abandoned(Path(folder))
    return manifest


def import_in_child(
    sources: Sequence[Any], folder: str, settings: dict[str, Any], report: ProgressCallback | None = None
) -> dict[str, Any]:
    """The part of `import_sandboxed` that runs in the subprocess. Raises InputError as `import_graph` does."""
    given = [Endpoint(**source) if isinstance(source, dict) else source for source in sources]
    return import_graph(given, folder, progress=report, **settings)


def import_graph(
    sources: Sequence[Any],
    folder: str | Path,
    name: str = "",
    language: str = "en",
    languages: Sequence[str] = ("en",),
    licence: str = "",
    credit: str = "",
    progress: ProgressCallback | None = None,
    identifier: str = "",
) -> dict[str, Any]:
    """Write one store of all `sources` (files, SPARQL endpoints or their URLs, objects for `read_object`) and return
    its manifest.

    `language` is preferred for labels, `languages` filters ConceptNet, `identifier` is the column of a table that names
    its entities. Raises `InputError` with file, line and column if a source cannot be read, or if there is no fact at
    all; the folder is then left unchanged.
    """
    tally = Tally()
    about: dict[str, Any] = {"licence": licence, "credit": credit, "sources": [], "skipped": {}}

    facts = 0

    def statements() -> Iterator[Batch]:
        nonlocal facts
        for batch in read():
            facts += len(batch.heads)
            yield batch
        about["licence"] = licence or ", ".join(tally.licences)
        about["skipped"] = dict(tally.skipped.most_common())
        about["declared"] = {
            "types": tally.relation_types,
            "wider": tally.wider,
            "closed_world": tally.closed_world,
        }
        if not facts:
            names = [str(getattr(source, "url", source))[:100] for source in sources]
            left_out = "; left out: " + ", ".join(tally.skipped) if tally.skipped else ""
            raise InputError(
                f"{', '.join(names)}: no facts between concepts{left_out}; "
                "give facts of head, relation and tail, such as trowel, used for, planting"
            )

    def read() -> Iterator[Batch]:
        files = [Path(s) for s in sources if isinstance(s, str | Path) and not is_url(s)]
        others = names_in_tables(files, identifier) if len(files) > 1 else ()
        for number, source in enumerate(sources):
            prefix = f"f{number}" if len(sources) > 1 else ""
            if isinstance(source, Endpoint) or is_url(source):
                endpoint = source if isinstance(source, Endpoint) else Endpoint(str(source))
                about["sources"].append({"url": endpoint.url})
                yield from read_endpoint(endpoint, tally, prefix, whole=is_small(endpoint))
            elif not isinstance(source, str | Path):
                about["sources"].append({"object": type(source).__name__})
                yield from read_object(source, tally)
            else:
                path = Path(source)
                batches = read_source(path, tally, ReadOptions(tuple(languages), prefix, identifier, others))
                spelt = path.name.encode("utf-8", "replace").decode()  # manifests are UTF-8
                about["sources"].append({"file": spelt, "bytes": path.stat().st_size})
                yield from batches

    # a generator: it is consumed after all statements have been read, when the tally is complete
    given = tally.relations(language)
    return write_store(
        statements(),
        folder,
        given,
        name,
        language,
        about,
        progress,
        tally.inverses,
        tally.entity_types,
        tally.apart,
        lambda made: GraphStore.open(made).manifest,
    )
