"""What the wheel and the source distribution hold, to the file, and that building them again gives the same bytes."""

from __future__ import annotations

import re
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from _environments import checked

pytestmark = pytest.mark.slow

HOOK_FILES = {"_dsb2_tasks_autoload.py", "dsb2_tasks.pth", "dsb2_tasks.start"}
SDIST_FOLDERS = ("dsb2_tasks/", "yaml_tasks/", "examples/", "tests/", ".ci/")
SDIST_FILES = {
    ".gitignore",
    ".pre-commit-hooks.yaml",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "pyproject.toml",
}
# Two thirds of either are 241 small parquet files of samples, which do not compress.
LARGEST = 12_000_000

BUILD = """
import os, sys
folder, out, umask = sys.argv[1:]
os.umask(int(umask, 8))
os.chdir(folder)
from hatchling.build import build_sdist, build_wheel
build_sdist(out), build_wheel(out)
"""

# Places on somebody's machine, and keys in the forms that their issuers give them.
PLACE = re.compile(rb"(?<![\w.~<$}:/-])/(?:home|root|Users|tmp|work|mnt|opt)/")
SECRET = re.compile(
    rb"\bhf_[A-Za-z0-9]{30,}|\bsk-[A-Za-z0-9_-]{40,}|\bAKIA[0-9A-Z]{16}\b|\bgh[opsu]_[A-Za-z0-9]{36}|\bpypi-[A-Za-z0-9_-]{40,}"
    rb"|BEGIN [A-Z ]*PRIVATE KEY"
)


@pytest.fixture(scope="module")
def tracked(repository: Path) -> list[str]:
    """The files that git knows, so that what lies about in a checkout has no say."""
    if not (repository / ".git").exists():
        pytest.skip("no git checkout, so nothing says which files belong to the package")
    names = checked(["git", "-C", repository, "ls-files", "-z"]).split("\0")
    return [name for name in names if name and (repository / name).is_file()]


def _build(source: Path, umask: str) -> Path:
    out = source.with_name(f"{source.name}-out")
    out.mkdir()
    checked([sys.executable, "-c", BUILD, source, out, umask], SOURCE_DATE_EPOCH="1700000000")
    return out


@pytest.fixture(scope="module")
def builds(tracked: list[str], repository: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two builds of one state: other folders, ages and access rights of files, order of creation, and umask."""
    first = tmp_path_factory.mktemp("build") / "checkout"
    second = tmp_path_factory.mktemp("build") / "elsewhere" / "and" / "deeper"
    for name in tracked:
        (first / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository / name, first / name)
    for name in reversed(tracked):
        (second / name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        shutil.copy2(repository / name, second / name)
        (second / name).chmod(0o700 if (repository / name).stat().st_mode & 0o100 else 0o600)
    return _build(first, "022"), _build(second, "077")


def _wheel(folder: Path) -> Path:
    (found,) = folder.glob("*.whl")
    return found


def _sdist(folder: Path) -> Path:
    (found,) = folder.glob("*.tar.gz")
    return found


def _files(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file; without the sdist's top folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            yield from ((name, wheel.read(name)) for name in wheel.namelist())
    else:
        with tarfile.open(archive) as sdist:
            for member in sdist:
                assert member.isfile(), f"{member.name} is no plain file"
                content = sdist.extractfile(member)
                assert content is not None
                yield member.name.partition("/")[2], content.read()


@pytest.mark.parametrize("archive", [_wheel, _sdist], ids=["wheel", "sdist"])
def test_two_builds_give_the_same_bytes(archive, builds: tuple[Path, Path]) -> None:
    first, second = (archive(folder) for folder in builds)
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()


def test_sdist_builds_the_same_wheel(builds: tuple[Path, Path], tmp_path: Path) -> None:
    with tarfile.open(_sdist(builds[0])) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    assert _wheel(_build(source, "022")).read_bytes() == _wheel(builds[0]).read_bytes()


def test_wheel_holds_all_that_is_needed_and_nothing_else(builds: tuple[Path, Path], tracked: list[str]) -> None:
    wheel = _wheel(builds[0])
    names = {name for name, _ in _files(wheel)}
    package = {name for name in tracked if name.startswith("dsb2_tasks/") and not name.startswith("dsb2_tasks/_autoload/")}
    tasks = {f"dsb2_tasks/{name}" for name in tracked if name.startswith("yaml_tasks/")}
    about = {f"dsb2_tasks-{wheel.name.split('-')[1]}.dist-info/{n}" for n in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")}
    about |= {name for name in names if name.endswith(".dist-info/licenses/LICENSE")}
    assert names == package | tasks | about | HOOK_FILES
    assert sum(name.endswith("/licenses/LICENSE") for name in about) == 1
    assert sum(name.endswith(".yaml") for name in tasks) > 180
    assert sum(name.endswith(".parquet") for name in package) > 180
    assert wheel.stat().st_size < LARGEST


def test_sdist_holds_what_builds_and_tests_need_and_nothing_else(builds: tuple[Path, Path], tracked: list[str]) -> None:
    sdist = _sdist(builds[0])
    names = {name for name, _ in _files(sdist)}
    assert names == {name for name in tracked if name.startswith(SDIST_FOLDERS)} | SDIST_FILES | {"PKG-INFO"}
    assert sdist.stat().st_size < LARGEST


@pytest.mark.parametrize("archive", [_wheel, _sdist], ids=["wheel", "sdist"])
def test_no_secret_nor_place_on_a_machine_is_shipped(archive, builds: tuple[Path, Path]) -> None:
    assert SECRET.search(b"token=hf_" + b"a1" * 17)
    assert PLACE.search(b'open("/home/somebody/x")')
    found = [name for name, content in _files(archive(builds[0])) if SECRET.search(content)]
    if archive is _wheel:  # tests name such places on purpose
        found += [name for name, content in _files(archive(builds[0])) if PLACE.search(content)]
    assert not found
