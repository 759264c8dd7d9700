"""The demo recogniser's packages are trusted for nothing."""

from __future__ import annotations

import hashlib
import importlib.metadata
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import pytest

from dsb2_tasks.models import _cascade_demo
from dsb2_tasks.models._cascade_demo import Bundle, DemoUnavailable

FIRST, SECOND = _cascade_demo.ASR.packages
PIECES = {
    FIRST: {"model.bin.part1": b"left ", "config.json": b"{}", "tokenizer.json": b"t", "vocabulary.txt": b"v"},
    SECOND: {"model.bin.part2": b"right"},
}


def demo_folder(cache: Path) -> Path:
    """Of packages with small files in place of the weights."""
    everything = {name: content for files in PIECES.values() for name, content in files.items()}
    pinned = {
        name: (hashlib.sha256(b"".join(everything[part] for part in parts)).hexdigest(), parts)
        for name, (_, parts) in _cascade_demo.ASR.files.items()
    }
    return _cascade_demo.demo_folder(replace(_cascade_demo.ASR, files=pinned), cache)


class Packages:
    """Installed packages as importlib.metadata shows them, over small files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.versions = dict(_cascade_demo.ASR.packages)
        for package, files in PIECES.items():
            for name, content in files.items():
                path = self.path(package, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    def path(self, package: str, name: str) -> Path:
        return self.root / package / "data" / name

    def distribution(self, package: str) -> SimpleNamespace:
        if package not in self.versions:
            raise importlib.metadata.PackageNotFoundError(package)
        files = [
            SimpleNamespace(name=PurePosixPath(p).name, locate=lambda p=p: p) for p in (self.root / package / "data").iterdir()
        ]
        return SimpleNamespace(version=self.versions[package], files=files)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Packages:
    packages = Packages(tmp_path / "site")
    monkeypatch.setattr(importlib.metadata, "distribution", packages.distribution)
    return packages


def test_pieces_are_joined_in_order(packages: Packages, tmp_path: Path) -> None:
    folder = demo_folder(tmp_path / "cache")
    assert (folder / "model.bin").read_bytes() == b"left right"
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "model.bin", "tokenizer.json", "vocabulary.txt"]


def test_a_good_folder_is_not_written_again(packages: Packages, tmp_path: Path) -> None:
    before = [(p, p.stat().st_ino) for p in sorted(demo_folder(tmp_path / "cache").iterdir())]
    assert [(p, p.stat().st_ino) for p in sorted(demo_folder(tmp_path / "cache").iterdir())] == before


@pytest.mark.parametrize("damage", [b"left wrong", b"left righ", b""])
def test_a_damaged_folder_is_made_anew(packages: Packages, tmp_path: Path, damage: bytes) -> None:
    model = demo_folder(tmp_path / "cache") / "model.bin"
    model.write_bytes(damage)
    demo_folder(tmp_path / "cache")
    assert model.read_bytes() == b"left right"


@pytest.mark.parametrize("package", PIECES)
def test_an_absent_package_is_named_with_the_fix(packages: Packages, tmp_path: Path, package: str) -> None:
    demo_folder(tmp_path / "cache")  # what was put together earlier does not stand in for a package
    del packages.versions[package]
    with pytest.raises(DemoUnavailable, match=rf'{package} 1\.0\.0 is not installed.*pip install "dsb2-tasks\[demo\]"'):
        demo_folder(tmp_path / "cache")


@pytest.mark.parametrize("package", PIECES)
def test_another_version_is_refused(packages: Packages, tmp_path: Path, package: str) -> None:
    packages.versions[package] = "1.0.1"
    with pytest.raises(DemoUnavailable, match=rf"{package} 1\.0\.0 is needed, found 1\.0\.1"):
        demo_folder(tmp_path / "cache")


@pytest.mark.parametrize(("package", "name"), [(package, name) for package, files in PIECES.items() for name in files])
def test_other_content_is_refused_and_not_left_behind(packages: Packages, tmp_path: Path, package: str, name: str) -> None:
    packages.path(package, name).write_bytes(b"other weights")
    with pytest.raises(DemoUnavailable, match=r"sha256 [0-9a-f]{64}, pinned is [0-9a-f]{64}"):
        demo_folder(tmp_path / "cache")
    (folder,) = (tmp_path / "cache").iterdir()
    left = {path.name for path in folder.iterdir()}
    assert name.removesuffix(".part1").removesuffix(".part2") not in left
    assert not [path for path in left if path.startswith(".")]


def test_a_missing_piece_is_named(packages: Packages, tmp_path: Path) -> None:
    packages.path(SECOND, "model.bin.part2").unlink()
    with pytest.raises(DemoUnavailable, match=r"model\.bin\.part2 missing"):
        demo_folder(tmp_path / "cache")


@pytest.mark.parametrize("bundle", [_cascade_demo.ASR, _cascade_demo.LLM], ids=lambda bundle: bundle.argument)
def test_what_is_installed_is_what_is_pinned(bundle: Bundle, tmp_path: Path) -> None:
    try:
        folder = _cascade_demo.demo_folder(bundle, tmp_path)
    except DemoUnavailable as error:
        pytest.skip(str(error))
    assert {path.name for path in folder.iterdir()} == set(bundle.files)
