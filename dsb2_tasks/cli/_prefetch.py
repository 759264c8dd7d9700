"""``dsb2 prefetch``: data sets on this machine before the run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from dsb2_tasks.cli._tasks import TaskName, WrongUse, choose, read_catalog

if TYPE_CHECKING:
    from dsb2_tasks.sources import Remote


@click.command()
@click.argument("names", metavar="[TASK|GROUP]...", nargs=-1, type=TaskName(groups=True))
@click.option("--dry-run", is_flag=True, help="Show what would be fetched, and fetch nothing.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--include_path", multiple=True, type=click.Path(), metavar="FOLDER", help="A further folder with tasks.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object at the end.")
def prefetch(names: tuple[str, ...], dry_run: bool, yes: bool, include_path: tuple[str, ...], as_json: bool) -> None:
    """Fetch data sets from the hub, so that a later run needs no connection.

    Names are tasks, groups, tags or patterns; without any it is the 180 of group dsb2. Each data set comes at the revision
    that its task pins, and one that is here already is not fetched again: started anew, the command goes on where it stopped.
    They go to the hub's own cache (HF_HOME, HF_HUB_CACHE).

    \b
    Examples:
      dsb2 prefetch dsb2_spatial_audio --dry-run
      dsb2 prefetch dsb2_music dsb2_superb_asr_librispeech --yes
      HF_HUB_OFFLINE=1 dsb2 run --tasks dsb2_music ...
    """  # noqa: D301 (click reads the sign \\b, a backspace)
    from dsb2_tasks import sources

    tasks = choose(names or ["dsb2"], read_catalog(include_path))
    if not (dry_run or yes or sys.stdin.isatty()):
        raise WrongUse("nobody is there to be asked (input is no terminal): add --yes, or --dry-run to see the sizes")
    wanted = [source for task in tasks for source in task.spec.data]
    with _bar(len({(source.path, source.revision) for source in wanted if not source.is_local})) as bar:
        sets, failed = sources.plan(wanted, bar.update)
    if not as_json:
        _show(sets)
    missing, room = sum(remote.missing for remote in sets), sources.free_bytes()
    if missing > room:
        raise click.ClickException(f"{_size(missing)} are to come, and the disk of the hub's cache has room for {_size(room)}")
    if not dry_run:
        if missing and not yes and not click.confirm(f"Fetch {_size(missing)}?", err=True):
            raise click.ClickException("nothing was fetched")
        failed |= _fetch(sets)
    if as_json:
        from dsb2_tasks.cli import _output

        _output.show_json({"sets": [_object(remote) for remote in sets], "failed": failed})
    users = {label: [task.name for task in tasks if label in map(sources.label, task.spec.data)] for label in failed}
    _tell(len(sets), {label: f"{reason} (data of {_names(users[label])})" for label, reason in failed.items()}, missing, dry_run)


def _fetch(sets: list[Remote]) -> dict[str, str]:
    """Fetches one after the other; the reasons of those that fail."""
    from huggingface_hub.utils import disable_progress_bars

    from dsb2_tasks import sources

    if not sys.stderr.isatty():
        disable_progress_bars()
    failed: dict[str, str] = {}
    for number, remote in enumerate(sets, 1):
        click.echo(f"[{number}/{len(sets)}] {remote.path}: {_size(remote.missing)} to come", err=True)
        try:
            sources.fetch(remote)
        except sources.DataError as error:
            failed[remote.label] = str(error)
    return failed


def _tell(there: int, failed: dict[str, str], missing: int, dry_run: bool) -> None:
    """The end: what is here, and an error that lists what is not."""
    if failed:
        lines = [f"{_sets(len(failed))} could not be had; the same command again tries only what is missing:"]
        raise click.ClickException("\n".join([*lines, *(f"  {name}: {reason}" for name, reason in failed.items())]))
    said = f"{_size(missing)} to come" if dry_run else "all here"
    click.echo(f"{_sets(there)}, {said}", err=True)


def _show(sets: list[Remote]) -> None:
    from dsb2_tasks.cli import _output

    table = _output.table("data set", "revision", ">files", ">size", ">to come")
    for remote in sets:
        pinned = remote.commit[:8] + ("" if remote.revision else " (main, not pinned)")
        _output.add(table, remote.path, pinned, len(remote.files), _size(remote.size), _size(remote.missing))
    if sets:
        _output.show(table)


def _object(remote: Remote) -> dict[str, Any]:
    found = {"data_set": remote.path, "pinned": remote.revision is not None, "commit": remote.commit}
    return {**found, "files": len(remote.files), "bytes": remote.size, "missing": remote.missing}


def _bar(total: int) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, desc="asking the hub", unit="set", disable=None, leave=False)


def _names(tasks: list[str]) -> str:
    return ", ".join(tasks) if len(tasks) <= 3 else f"{tasks[0]} and {len(tasks) - 1} more tasks"


def _sets(number: int) -> str:
    return f"{number} data set{'' if number == 1 else 's'}"


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
