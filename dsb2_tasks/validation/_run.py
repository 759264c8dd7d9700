"""Many files at once: which are tasks, whose name is taken, and what each check finds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from dsb2_tasks import catalog
from dsb2_tasks.spec import SpecError
from dsb2_tasks.validation import _file, _lines
from dsb2_tasks.validation._finding import Outcome
from dsb2_tasks.validation._rows import HubUnreachable, check_rows


class ValidationError(ValueError):
    """The check itself was asked for something that cannot be had."""


def validate(
    paths: Iterable[Path], *, data: str | None = None, open_data: bool = True, allow_code: bool = False
) -> Iterator[Outcome]:
    """Checks task and group files.

    Args:
        paths: YAML files, and folders that are searched for them (``_*.yaml`` are templates and passed over).
        data: Where hub data sets are read from: ``hub``, ``samples`` or a folder; None for the hub if it can be reached.
            Data beside a task file are always read from there.
        open_data: Whether to open data at all.
        allow_code: Whether functions outside of this package are imported and run, and files may lead out of their folder.

    Yields:
        One outcome a file, as soon as it is known.

    Raises:
        ValidationError: A path does not exist.
    """
    names = _Names()
    reachable = True
    for path in _files(paths):
        source, outcome = _read(path, allow_code)
        config = _file.read_config(source) if outcome.ours else None
        if config is None:
            yield _finished(source, outcome)
            continue
        if not catalog.is_ours(config):
            outcome.ours = _tell_what_is_missing(source, config)
            yield _finished(source, outcome)
            continue
        if "dsb2_group" in config:
            outcome.task = _file.check_group(source, config)
            names.check(source, outcome.task, ())
            yield _finished(source, outcome)
            continue
        outcome.task = str(config["task"])
        try:
            tags = catalog.tags_of(config, path)
        except SpecError as error:
            source.add_error(("tag",), error)
            tags = ()
        names.check(source, outcome.task, tags)
        spec = _file.check_task(source, config)
        if spec is not None and open_data:
            remote = any(not part.is_local for part in spec.data)
            try:
                if remote and data is None and not reachable:
                    raise HubUnreachable
                check_rows(source, outcome, spec, catalog.complete(config, path), data)
            except HubUnreachable:
                reachable = False
                source.add("note", ("dsb2", "data"), "data were not opened: the hub cannot be reached", "see --data")
        yield _finished(source, outcome)


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise ValidationError(f"{path} does not exist; name a YAML file or a folder of them")
        for file in catalog.task_files(path) if path.is_dir() else [path]:
            if file.resolve() not in seen:
                seen.add(file.resolve())
                yield file


def _read(path: Path, allow_code: bool) -> tuple[_lines.Source, Outcome]:
    """A file with what it includes; one that does not parse and does not speak of dsb2 is somebody else's."""
    source = _lines.read(path, allow_code or catalog.is_own(path))
    ours = not path.name.startswith("_")
    if ours and source.faults and path.is_file() and os.access(path, os.R_OK):
        with path.open("rb") as file:
            ours = b"dsb2" in file.read(catalog.MAX_BYTES)
    return source, Outcome(path, ours=ours)


def _tell_what_is_missing(source: _lines.Source, config: dict[str, object]) -> bool:
    """Whether a file that is no dsb2 task was meant to be one."""
    if "dsb2" in config or "dsb2_group" in config:
        source.add("fault", ("task",), "key 'task' is missing: the task has no name", "add, for example, 'task: my_task'")
    elif str(config.get("class", "")).startswith("dsb2_tasks."):
        source.add("fault", ("dsb2",), "key 'dsb2' is missing: nothing says what the task is", "add a 'dsb2:' block")
    else:
        return False
    return True


def _finished(source: _lines.Source, outcome: Outcome) -> Outcome:
    if outcome.ours:
        unique = dict.fromkeys(source.findings)
        outcome.findings = sorted(unique, key=lambda finding: (finding.path != source.path, str(finding.path), finding.line))
    return outcome


class _Names:
    """Names of tasks, groups and tags: of the catalogue, and of the files checked so far."""

    def __init__(self) -> None:
        self._files: dict[str, Path] = {}
        self._own_tags: set[str] = set()
        for path in (path for root in catalog.search_paths() for path in catalog.task_files(root)):
            try:
                config = catalog.load_config(path)
                tags = catalog.tags_of(config, path)
            except SpecError:
                continue  # whoever reads the catalogue is told
            if catalog.is_ours(config):
                self._files[str(config["task"])] = path
                if catalog.is_own(path):
                    self._own_tags.update(tags)

    def check(self, source: _lines.Source, name: str, tags: tuple[str, ...]) -> None:
        """Tells where a name is taken, and takes it."""
        other = self._files.setdefault(name, source.path)
        if other.resolve() != source.path.resolve():
            source.add("fault", ("task",), f"task name {name!r} is taken by {other}", "give this one another name")
        if name in self._own_tags:
            source.add("fault", ("task",), f"{name!r} is the name of a tag", "give the task another name")
        if catalog.is_own(source.path):
            return
        for tag in tags:
            if tag in self._own_tags or tag in self._files:
                cause = f"tag {tag!r} is one of the suite: lm-eval would put these tasks in the place of its own"
                source.add("fault", ("tag",), cause, "use a tag of your own")
