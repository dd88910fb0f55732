"""Which files there are to land, and which of them cannot be."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePath
from stat import S_ISDIR, S_ISREG

from attest.errors import LandingError
from attest.formats import refuse_escape


def found(paths: Sequence[Path]) -> tuple[list[Path], list[LandingError]]:
    """The files that are named, and those of folders that are named, with what is wrong with any of the latter."""
    files: list[Path] = []
    refused: list[LandingError] = []
    refuse_bad_files([path for path in paths if not path.is_dir()])
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        for file in files_in(path):
            try:
                refuse_escape(file, root=path)
                refuse_bad_files([file])
            except LandingError as error:
                refused.append(LandingError(str(error).replace("Nothing was", "Nothing of it was")))
            else:
                files.append(file)
    return files, refused


def files_in(folder: Path) -> list[Path]:
    """All files below a folder, in one order. A name that begins with . or _ says that it is not meant."""
    inside = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name[0] not in "._"]
        inside += [Path(place, name) for name in names if name[0] not in "._"]
    return sorted(inside)


def refuse_bad_files(paths: Sequence[Path]) -> None:
    """What cannot be landed is refused before anything is read."""
    named: set[Path] = set()
    for path in paths:
        try:
            about = path.stat()
            str(path).encode()
        except FileNotFoundError:
            raise LandingError(f"{path} is not there. Nothing was landed; check the name.") from None
        except (OSError, ValueError) as error:
            raise LandingError(
                f"{str(path)!r} cannot be looked at ({error}). Nothing was landed; check its name and who may read it."
            ) from None
        if S_ISDIR(about.st_mode):
            raise LandingError(f"{path} is a folder, not a file. Nothing was landed; name the files in it.")
        if not S_ISREG(about.st_mode):
            raise LandingError(
                f"{path} is no file, so it cannot be read again. Nothing was landed; save what it says to a file first."
            )
        if about.st_size == 0:
            raise LandingError(f"{path} is empty. Nothing was landed; if its source had nothing to say, leave it out.")
        if not os.access(path, os.R_OK):
            raise LandingError(f"{path} may not be read by this user. Nothing was landed; change who may read it.")
        if path.resolve() in named:
            raise LandingError(f"{path} is named twice. Nothing was landed; name it once.")
        named.add(path.resolve())


def whole_name(path: PurePath) -> str:
    """A file's name from the root on, so that a retry finds it wherever it is called from; a topic's as it is."""
    return os.path.abspath(path) if isinstance(path, Path) else str(path)
