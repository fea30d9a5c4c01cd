"""A fresh virtual environment, in which this project and its plugins are installed as the wheels that users get.

Third-party packages are not downloaded again: the environment sees those of the running one through links, and nothing
else of it. Neither the code nor the metadata of an editable install of this project or of a plugin leaks in.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from pyod_gessvdd.components.registry import PLUGINS_VARIABLE

#: Not linked: what is to be tested, how it got into the running environment, and build tools, which may be too old.
LEFT_BEHIND = ("pyod_gessvdd", "__editable__", "setuptools", "_distutils_hack", "distutils-precedence", "pkg_resources")


class Environment:
    """A virtual environment of its own, with ``pip``, ``pytest`` and whatever is installed into it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        venv.create(home, symlinks=True, with_pip=False)
        self.bin = home / "bin"
        self._link_third_party_packages()
        for name in ("pip", "pytest"):
            self._add_script(name)
        self.pip("install", "setuptools>=77")

    def _link_third_party_packages(self) -> None:
        links = self.home / "third-party"
        links.mkdir()
        for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
            for entry in Path(folder).iterdir():
                if entry.suffix != ".pth" and not entry.name.replace("-", "_").lower().startswith(LEFT_BEHIND):
                    (links / entry.name).symlink_to(entry)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        (self.home / "lib" / version / "site-packages" / "third-party.pth").write_text(f"{links}\n")

    def _add_script(self, module: str) -> None:
        # -I: the folder that a command runs in is not importable, so that the installed copy is what is tested.
        script = self.bin / module
        script.write_text(f'#!/bin/sh\nexec "{self.bin}/python" -I -m {module} "$@"\n')
        script.chmod(0o755)

    def run(self, *command: str | Path, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command of this environment, without regard to its exit code."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "PYTEST", "COV_")) and name not in (PLUGINS_VARIABLE, "VIRTUAL_ENV")
        }
        environment = {
            **inherited,
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "200",
            "PYTHONIOENCODING": "utf-8",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            **variables,
        }
        return subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            encoding="utf-8",
            env=environment,
            cwd=cwd or self.home,
            check=False,
        )

    def output(self, *command: str | Path, cwd: Path | None = None, **variables: str) -> str:
        """The standard output of a command that must succeed."""
        done = self.run(*command, cwd=cwd, **variables)
        assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def python(self, code: str, *arguments: str | Path, **variables: str) -> str:
        """What a script prints; a warning is an error."""
        return self.output(self.bin / "python", "-I", "-W", "error", "-c", code, *arguments, **variables)

    def pip(self, *arguments: str | Path) -> str:
        """Run pip on this environment."""
        return self.output(self.bin / "pip", *arguments)

    def wheels(self, sources: list[Path], folder: Path, **variables: str) -> list[Path]:
        """Build the wheels of some source folders."""
        before = set(folder.glob("*.whl"))
        how = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir")
        self.output(self.bin / "pip", "wheel", *how, folder, *sources, **variables)
        built = sorted(set(folder.glob("*.whl")) - before)
        assert len(built) == len(sources)
        return built

    def install(self, *wheels: str | Path) -> None:
        """Install wheels, and what they need that is not there."""
        self.pip("install", "--quiet", *wheels)

    def uninstall(self, *distributions: str) -> None:
        """Uninstall distributions."""
        self.pip("uninstall", "--quiet", "--yes", *distributions)
