"""Sources of any kind to one store folder, with where they came from in its manifest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kgqa.graph.sources import read_source
from kgqa.graph.sources.sparql_client import Endpoint
from kgqa.graph.sources.sparql_dump import is_small, read_endpoint
from kgqa.graph.sources.statements import Batch, Tally
from kgqa.graph.storage.manifest import write_manifest
from kgqa.graph.storage.store import GraphStore
from kgqa.graph.storage.writer import Progress, clear_abandoned, write_store
from kgqa.limits.confined import Confines, confined
from kgqa.types import InputError


def is_url(source: str | Path) -> bool:
    """Whether a source is the address of a SPARQL endpoint."""
    return str(source).startswith(("http://", "https://"))


def import_confined(
    sources: Sequence[str | Path | Endpoint],
    folder: str | Path,
    confines: Confines = Confines(),
    progress: Progress | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """As `import_graph`, of what nobody vouches for, in a child: what exhausts a parser ends no more than that.

    Raises:
        InputError: as there, or a source takes more than `confines` allow; the message names the last one.
    """
    asked = [source.asked() if isinstance(source, Endpoint) else str(source) for source in sources]
    try:
        manifest: dict[str, Any] = confined(
            f"{__name__}:import_asked",
            str(getattr(sources[-1], "url", sources[-1])),
            confines,
            report=progress,
            sources=asked,
            folder=str(folder),
            settings=settings,
        )
    finally:
        clear_abandoned(Path(folder))
    return manifest


def import_asked(
    sources: Sequence[Any], folder: str, settings: dict[str, Any], report: Progress | None = None
) -> dict[str, Any]:
    """In a child: what `import_confined` asks for. Raises InputError as `import_graph` does."""
    given = [Endpoint(**source) if isinstance(source, dict) else source for source in sources]
    return import_graph(given, folder, progress=report, **settings)


def import_graph(
    sources: Sequence[str | Path | Endpoint],
    folder: str | Path,
    name: str = "",
    language: str = "en",
    languages: Sequence[str] = ("en",),
    licence: str = "",
    credit: str = "",
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write one store of all `sources` (files, SPARQL endpoints or their URLs) and return its manifest.

    `language` is preferred for labels, `languages` filters ConceptNet. Raises `InputError` with file, line
    and column of what cannot be read, or where there is no fact at all; the folder is then as it was.
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
        about["declared"] = {"means": tally.means, "wider": tally.wider, "complete": tally.complete}
        if not facts:
            names = [str(getattr(source, "url", source)) for source in sources]
            left_out = "; left out: " + ", ".join(tally.skipped) if tally.skipped else ""
            raise InputError(
                f"{', '.join(names)}: no facts between concepts{left_out}; "
                "give triples such as ex:trowel ex:usedFor ex:planting"
            )

    def read() -> Iterator[Batch]:
        for number, source in enumerate(sources):
            prefix = f"f{number}" if len(sources) > 1 else ""
            if isinstance(source, Endpoint) or is_url(source):
                endpoint = source if isinstance(source, Endpoint) else Endpoint(str(source))
                about["sources"].append({"url": endpoint.url})
                yield from read_endpoint(endpoint, tally, prefix, whole=is_small(endpoint))
            else:
                path = Path(source)
                batches = read_source(path, tally, tuple(languages), prefix)
                spelt = path.name.encode("utf-8", "replace").decode()  # manifests are UTF-8
                about["sources"].append({"file": spelt, "bytes": path.stat().st_size})
                yield from batches

    # the relations are asked for after the statements have been read, when the tally is full
    given = tally.relations(language)
    write_store(statements(), folder, given, name, language, about, progress, tally.inverses, tally.kinds)
    known = GraphStore.open(folder).manifest
    write_manifest(Path(folder), known)
    return known
