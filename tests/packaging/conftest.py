"""The checkout's wheel, and environments with a regular and an editable installation of it."""

from __future__ import annotations

import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from _environments import Environment, build_wheel


@pytest.fixture(scope="session")
def new_environment(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Environment]:
    def make() -> Environment:
        environment = Environment(tmp_path_factory.mktemp("environment"))
        venv.create(environment.root, with_pip=False, symlinks=True)
        # A plain path line: the libraries can be imported, the .pth files beside them are not run.
        libraries = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
        (environment.site / "libraries.pth").write_text("\n".join(libraries) + "\n")
        return environment

    return make


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """The wheel of the checkout."""
    return build_wheel(repository, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def regular(new_environment: Callable[[], Environment], wheel: Path) -> Environment:
    """An environment with a regular installation; tests leave it as it is."""
    environment = new_environment()
    environment.install(wheel)
    return environment


@pytest.fixture(scope="session")
def editable(new_environment: Callable[[], Environment], repository: Path) -> Environment:
    """An environment with an editable installation; tests leave it as it is."""
    environment = new_environment()
    environment.install("-e", repository)
    return environment
