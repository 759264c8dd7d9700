"""Imports run one way, starting is cheap, and the product names nothing of the place it was made in."""

from __future__ import annotations

import ast
import graphlib
import json
import re
import sys
from pathlib import Path

import pytest
from _environments import checked

#: From top to bottom. A module may import from lower floors; on its own floor only what does not lead back to it.
FLOORS = [
    {"cli"},
    {"rescore"},
    {"task", "group", "plugin", "report", "comparison", "validation", "authoring"},
    {"hooks", "scoring", "judge", "models", "catalog", "sources", "results", "baseline", "scorer", "summary", "endpoint"},
    {"parse", "metrics", "audio", "samples", "spec", "compat"},
]
#: Files that stand beside the floors: the hook is run without the package, the package itself imports nothing.
OUTSIDE = {"_autoload", "__init__"}
#: What must never be loaded, or even imported inside a function, by pure parts.
PURE = {"metrics": ["audio"], "parse": ["audio", "metrics"], "scoring": ["audio", "models"], "spec": []}
HEAVY = {"torch", "torchaudio", "transformers", "datasets", "lm_eval"}


def _package(repository: Path) -> Path:
    return repository / "dsb2_tasks"


def _part(path: Path, package: Path) -> str:
    """The part of the house that a file belongs to: ``metrics/_der.py`` -> ``metrics``."""
    return path.relative_to(package).parts[0].removesuffix(".py")


def _imports(path: Path, package: Path) -> set[str]:
    """Full names of all modules a file imports anywhere in it, functions included."""
    dotted = ["dsb2_tasks", *path.relative_to(package).with_suffix("").parts]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*dotted[: len(dotted) - node.level], *([node.module] if node.module else [])] if node.level else [node.module]
            module = ".".join(str(part) for part in base)
            found.update(f"{module}.{alias.name}" for alias in node.names)
    return found


def _parts_used(path: Path, package: Path) -> set[str]:
    names = [name.split(".") for name in _imports(path, package)]
    inside = {name[1] for name in names if name[0] == "dsb2_tasks" and len(name) > 1}
    return {name for name in inside if not name.startswith("__")}


@pytest.fixture(scope="module")
def edges(repository: Path) -> dict[str, set[str]]:
    package = _package(repository)
    graph: dict[str, set[str]] = {}
    for path in package.rglob("*.py"):
        part = _part(path, package)
        graph.setdefault(part, set()).update(_parts_used(path, package) - {part})
    return graph


def test_every_part_has_its_floor(edges: dict[str, set[str]]) -> None:
    known = set().union(*FLOORS) | OUTSIDE
    assert set(edges) <= known, f"no floor for {sorted(set(edges) - known)}: decide where it stands"


def test_imports_run_one_way(edges: dict[str, set[str]]) -> None:
    height = {part: -level for level, floor in enumerate(FLOORS) for part in floor}
    upward = [
        f"{part} imports {other}"
        for part, others in edges.items()
        if part not in OUTSIDE
        for other in others
        if height.get(other, 1) > height[part]
    ]
    assert not upward
    graphlib.TopologicalSorter({part: others for part, others in edges.items() if part not in OUTSIDE}).prepare()


@pytest.mark.parametrize("part", sorted(PURE))
def test_pure_parts_know_only_their_own(part: str, repository: Path, edges: dict[str, set[str]]) -> None:
    package = _package(repository)
    files = [path for path in package.rglob("*.py") if _part(path, package) == part]
    for path in files:
        roots = {name.split(".")[0] for name in _imports(path, package)}
        assert not roots & HEAVY, f"{path.name} imports {sorted(roots & HEAVY)}"
    assert not edges.get(part, set()) & set(PURE[part])


@pytest.mark.parametrize(
    ("modules", "absent"),
    [
        ("dsb2_tasks", ["torch", "datasets", "lm_eval", "numpy", "pydantic", "yaml"]),
        ("dsb2_tasks.catalog", ["torch", "datasets", "lm_eval", "numpy"]),
        ("dsb2_tasks.plugin", ["torch", "datasets", "lm_eval", "numpy"]),
        ("dsb2_tasks.parse, dsb2_tasks.metrics, dsb2_tasks.scoring", ["torch", "datasets", "lm_eval", "mir_eval", "sacrebleu"]),
        ("dsb2_tasks.hooks", ["torch", "datasets", "lm_eval", "soundfile"]),
        ("dsb2_tasks.audio", ["torch", "torchaudio", "datasets", "lm_eval", "av"]),
        ("dsb2_tasks.task, dsb2_tasks.group", ["torch", "torchaudio", "transformers"]),
    ],
)
def test_imports_are_light(modules: str, absent: list[str]) -> None:
    source = f"import {modules}, json, sys; print(json.dumps([m for m in {absent!r} if m in sys.modules]))"
    assert json.loads(checked([sys.executable, "-c", source])) == []


def _texts(repository: Path) -> list[Path]:
    skipped = {".git", ".venv", "build", "dist"}
    files = []
    for path in repository.rglob("*"):
        parts = path.relative_to(repository).parts
        if skipped & set(parts) or any(p.endswith("_cache") or p in ("__pycache__", ".hypothesis") for p in parts):
            continue
        if path.is_file() and path.suffix not in (".parquet", ".flac", ".wav", ".ogg", ".mp3"):
            files.append(path)
    return files


#: Written with @ for the sign after it, so that this file passes its own test.
REGISTRIES = ["pypi@.org", "pythonhosted@.org", "pytorch.org@/whl", "registry@.npmjs", "deb@.debian"]
MACHINE = ["/work@/shared", "/work@/main", "/opt@/pypi", "/tmp@/venv"]


@pytest.mark.parametrize(
    ("what", "names"), [("a package registry", REGISTRIES), ("a folder of the machine it was written on", MACHINE)]
)
def test_no_file_names(what: str, names: list[str], repository: Path) -> None:
    files = _texts(repository)
    assert len(files) > 100
    pattern = re.compile("|".join(re.escape(name.replace("@", "")) for name in names))
    hits = [
        f"{path.relative_to(repository)}:{number}: {what}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]
    assert not hits
