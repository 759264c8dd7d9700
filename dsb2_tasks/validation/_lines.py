"""A task file with the files that it includes, and the line of each of their keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from dsb2_tasks import catalog
from dsb2_tasks.spec import SpecError
from dsb2_tasks.validation._finding import Finding, Level

Key = Sequence[str | int]

#: Where the keys of the ``dsb2:`` block may stand, the winner first.
_BLOCKS = ("dsb2", "dsb2_template", "dsb2_base")
#: Beginning of libyaml's message -> what to do.
_SYNTAX = {
    "found a tab": "indent with blanks, not with tabs",
    "found character": "indent with blanks, not with tabs, and put texts that begin with a special character in quotes",
    "mapping values": "keys of one block start in the same column: correct the indentation, or quote a text that holds ': '",
    "did not find expected": "keys of one block start in the same column: correct the indentation here or in the line before",
    "found undefined alias": "put a text that begins with * in quotes",
    "found unexpected end of stream": "close the quotes or brackets that begin here",
}


@dataclass
class Source:
    """A task file.

    Attributes:
        path: The file.
        trusted: Whether code may run and paths may lead anywhere.
        files: It and what it includes, with their nodes; whose key wins comes first.
        findings: What was found so far.
    """

    path: Path
    trusted: bool
    files: list[tuple[Path, yaml.MappingNode]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def faults(self) -> list[Finding]:
        """What must be corrected."""
        return [finding for finding in self.findings if finding.level == "fault"]

    def add(self, level: Level, keys: Key | Sequence[Key], cause: str, fix: str = "") -> None:
        """Notes something about a key, or about the first of several keys that stands in one of the files."""
        several = keys if keys and not isinstance(keys[0], str | int) else [keys]
        places = [self.place(key) for key in several]  # type: ignore[arg-type]
        path, line, _ = next((place for place in places if place[2]), places[0])
        self.findings.append(Finding(path, line, level, cause, fix))

    def add_error(self, key: Key, error: Exception, fix: str = "") -> None:
        """Notes an error of the layers below, without the file name that it begins with, at a key or at its own line."""
        text, line = str(error), getattr(error, "line", None)
        for path in (self.path, *(path for path, _ in self.files)):
            if text.startswith(f"{path}: "):
                text = text.removeprefix(f"{path}: ")
                if line is not None:
                    self.findings.append(Finding(path, line, "fault", text, fix))
                    return
        self.add("fault", key, text, fix)

    def place(self, key: Key) -> tuple[Path, int, bool]:
        """File and line of a key, and whether it stands there; else the nearest key above it."""
        if key and key[0] == "dsb2" and len(key) > 1:
            for block in _BLOCKS:
                for path, node in self.files:
                    line, found = _find(node, (block, *key[1:]))
                    if found >= 2:
                        return path, line, True
        for path, node in self.files:
            line, found = _find(node, key)
            if found:
                return path, line, found == len(key)
        return self.path, 1, False

    def own(self) -> Iterator[tuple[Path, yaml.MappingNode]]:
        """Files that are not the package's."""
        return ((path, node) for path, node in self.files if not catalog.is_own(path))


def _find(node: yaml.Node, key: Key) -> tuple[int, int]:
    """Line of the deepest part of a key that is there, and how many parts are; parts that name no key are passed over."""
    line, found = 1, 0
    for part in key:
        if isinstance(node, yaml.MappingNode):
            pair = next(((name, value) for name, value in node.value if name.value == str(part)), None)
            if pair is None:
                continue
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            continue
        found += 1
    return line, found


def read(path: Path, trusted: bool) -> Source:
    """Composes a file and what it includes; faults on the way are among the findings."""
    source = Source(path, trusted)
    source.files = _gather(path, source, {path.resolve()}, lambda cause, fix: source.add("fault", (), cause, fix))
    return source


def _gather(path: Path, source: Source, seen: set[Path], tell: Callable[[str, str], None]) -> list[tuple[Path, yaml.MappingNode]]:
    try:
        node = catalog.compose(path)
    except SpecError as error:
        if error.line is None:
            tell(str(error).removeprefix(f"{path}: "), "")
        else:
            cause = str(error).removeprefix(f"{path}: ")
            fix = next((fix for start, fix in _SYNTAX.items() if f": {start}" in cause), "")
            source.findings.append(Finding(path, error.line, "fault", cause, fix))
        return []
    for key, line, first in catalog.repeated_keys(node):
        cause = f"key {key!r:.80} {catalog.TWICE} {first}; only the last would count"
        source.findings.append(Finding(path, line, "fault", cause, "leave one of them out"))
    below: list[tuple[Path, yaml.MappingNode]] = []
    for include in _includes(node):
        line = include.start_mark.line + 1

        def fault(cause: str, fix: str, line: int = line) -> None:
            source.findings.append(Finding(path, line, "fault", cause, fix))

        target = catalog.find_file(path.parent / include.value) if isinstance(include, yaml.ScalarNode) else None
        if target is not None and not source.trusted and not _reachable(target, source.path):
            fault(
                f"include: {include.value!r} leads out of the task's folder",
                "leave it out (the template of dsb2.kind is filled in by itself), put it beside the task, or use --allow-code",
            )
        elif target is None:
            named = repr(include.value)[:200] if isinstance(include, yaml.ScalarNode) else "what is no path"
            fault(f"include: {named} does not exist", "leave it out: the template of dsb2.kind is filled in by itself")
        elif target in seen:
            fault(f"include: {include.value!r} is met twice", "include each file once: lm-eval takes a second time for a circle")
        else:
            seen.add(target)
            below = [*_gather(target, source, seen, fault), *below]
    return [(path, node), *below]


def _includes(node: yaml.MappingNode) -> list[yaml.Node]:
    value = next((value for name, value in node.value if name.value == "include"), None)
    return [] if value is None else value.value if isinstance(value, yaml.SequenceNode) else [value]


def _reachable(target: Path, path: Path) -> bool:
    """Whether a stranger's file may have this one read: from its own folder or from the package's templates."""
    return target.is_relative_to(path.parent.resolve()) or target.is_relative_to(catalog.yaml_root().resolve())
