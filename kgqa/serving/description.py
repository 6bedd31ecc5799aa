"""What the service says of itself at /docs: one page, made of its own description, that fetches nothing."""

from __future__ import annotations

import json
from html import escape
from typing import Any

_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
    "pre{background:#f3f3f3;padding:.8rem;overflow:auto}code{font-family:monospace}"
    "table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2rem .6rem;text-align:left}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#111}pre{background:#222}}"
)


def page(described: dict[str, Any]) -> str:
    """The page of an OpenAPI description: its paths, then the forms of what is sent and comes back."""
    title = escape(f"{described['info']['title']}: {described['info'].get('summary', '')}")
    paths = "".join(
        _operation(path, method, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    )
    forms = "".join(_form(name, form) for name, form in described["components"]["schemas"].items())
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f'<h1>{title}</h1><p>As OpenAPI: <a href="openapi.json">openapi.json</a></p>'
        f"<h2>Paths</h2>{paths}<h2>Forms</h2>{forms}</body></html>"
    )


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    sent = operation.get("requestBody", {}).get("content", {})
    forms = [_link(form) for content in sent.values() if (form := _name(content.get("schema", {})))]
    takes = f"<p>Takes {', '.join(forms)}</p>" if forms else ""
    answers = "; ".join(
        f"{code} {escape(answer.get('description', ''))}" for code, answer in operation["responses"].items()
    )
    return (
        f"<h3><code>{escape(method.upper())} {escape(path)}</code></h3>"
        f"<p>{escape(operation.get('description', ''))}</p>{takes}<p>Answers: {answers}</p>"
    )


def _form(name: str, form: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code></td><td>{_kind(about)}</td>"
        f"<td>{escape(str(about.get('description', '')))}</td></tr>"
        for field, about in form.get("properties", {}).items()
    )
    examples = "".join(
        f"<pre>{escape(json.dumps(example, indent=1, ensure_ascii=False))}</pre>"
        for example in form.get("examples", ())
    )
    return (
        f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{escape(form.get("description", ""))}</p>'
        f"<table>{rows}</table>{examples}"
    )


def _kind(about: dict[str, Any]) -> str:
    if name := _name(about):
        return _link(name)
    if "anyOf" in about:
        return " or ".join(map(_kind, about["anyOf"]))
    if about.get("type") == "array":
        return f"list of {_kind(about.get('items', {}))}"
    return escape(str(about.get("type", "anything")))


def _name(about: dict[str, Any]) -> str:
    return str(about.get("$ref", "")).rpartition("/")[2]


def _link(name: str) -> str:
    return f'<a href="#{escape(name)}">{escape(name)}</a>'
