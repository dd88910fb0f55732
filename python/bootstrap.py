"""Set up attest on a machine that has Python, Java, git and make: one environment, two jars, one profile.

Runs on the system's Python, with nothing installed. Each step is skipped when its
result is already there, so the second run takes well under a second.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCK = ROOT / "python" / "requirements.lock"
PROJECT = ROOT / "python" / "pyproject.toml"
JARS_LOCK = ROOT / "python" / "jars.lock"
JARS = VENV / "jars"
WARM = ROOT / "python" / "warm.py"
CLASSES = JARS / "classes.jsa"


def stop(problem: str, remedy: str) -> None:
    sys.exit(f"attest cannot be set up: {problem}\n  {remedy}")


def java() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"


def check_machine() -> str:
    """Name what is missing in the first second, with the command that brings it; gives Java's own words."""
    if sys.version_info < (3, 11):  # noqa: UP036 (the one place where an older one may call)
        stop(
            f"this is Python {sys.version.split()[0]}, and 3.11 or newer is needed",
            "Install it (Debian: apt-get install python3.11 python3.11-venv) and call: make PYTHON=python3.11 …",
        )
    install = "Install it (Debian: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17)"
    if shutil.which(java()) is None:
        stop(f"no Java found ({java()} is not there)", f"{install}, or point JAVA_HOME at Java 17 or 21.")
    printed = subprocess.run([java(), "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', printed)
    if version is None or int(version.group(1)) not in (17, 21):
        found = printed.splitlines()[0] if printed else "nothing"
        stop(f"Java 17 or 21 is needed, and {java()} says: {found}", f"{install}, or point JAVA_HOME at it.")
    if find_spec("venv") is None or find_spec("ensurepip") is None:
        stop("Python's venv module is missing", "Install it (Debian: apt-get install python3-venv).")
    return printed


def fingerprint(*paths: Path, on: str = "") -> str:
    """What a step was made of: it is taken again when any of this changes."""
    digest = hashlib.sha256((sys.version + on).encode())
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_done(step: str, *paths: Path, on: str = "") -> bool:
    stamp = VENV / step
    return stamp.is_file() and stamp.read_text() == fingerprint(*paths, on=on)


def done(step: str, *paths: Path, on: str = "") -> None:
    (VENV / step).write_text(fingerprint(*paths, on=on))


def run(*command: str | Path, quiet: bool = False) -> None:
    ended = subprocess.run([str(part) for part in command], check=False, stdout=subprocess.DEVNULL if quiet else None)
    if ended.returncode != 0:
        stop(f"this command failed: {' '.join(map(str, command))}", "Its own words are above. Mend, then call again.")


def install_packages() -> None:
    """Every package at its locked version and hash; --no-deps because the lock is complete."""
    print("attest: installing the locked packages into .venv (a minute or two, once)", flush=True)
    run(sys.executable, "-m", "venv", "--clear", VENV)
    pip_install("--require-hashes", "--requirement", LOCK)


def install_attest() -> None:
    pip_install("--no-build-isolation", "--editable", ROOT / "python")


def pip_install(*what: str | Path) -> None:
    quiet = ("--quiet", "--disable-pip-version-check", "--no-deps")
    run(VENV / "bin" / "python", "-m", "pip", "install", *quiet, *what)


def fetch_jars() -> None:
    """The two Delta jars, by Spark's own resolver (Ivy), each checked against its locked sum."""
    print("attest: fetching the Delta jars", flush=True)
    ivy = next(VENV.glob("lib/python*/site-packages/pyspark/jars/ivy-*.jar"))
    settings = os.environ.get("IVY_SETTINGS")
    for line in JARS_LOCK.read_text().splitlines():
        if line.startswith("#"):
            continue
        expected, coordinates = line.split()
        group, artifact, version = coordinates.split(":")
        run(
            *(java(), "-jar", ivy, "-warn", "-cache", VENV / "ivy", "-notransitive", "-types", "jar"),
            *(("-settings", settings) if settings else ()),
            *("-dependency", group, artifact, version, "-retrieve", f"{JARS}/[artifact]-[revision].[ext]"),
            quiet=True,
        )
        jar = JARS / f"{artifact}-{version}.jar"
        if not jar.is_file():
            stop(
                f"{coordinates} could not be fetched",
                "Is a Maven repository within reach? IVY_SETTINGS may name an Ivy settings file with a mirror.",
            )
        found = hashlib.sha256(jar.read_bytes()).hexdigest()
        if found != expected:
            jar.unlink()
            stop(f"{jar.name} has the sum {found}, not {expected}", "It was not kept. Ask whoever runs the mirror.")
    shutil.rmtree(VENV / "ivy", ignore_errors=True)


def keep_classes() -> None:
    """Spark's classes as Java has loaded them: each command starts some seconds sooner. Without, all works the same."""
    print("attest: keeping Spark's loaded classes for quicker starts (a minute, once)", flush=True)
    CLASSES.unlink(missing_ok=True)
    warm = [VENV / "bin" / "python", WARM, CLASSES]
    ended = subprocess.run(warm, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode != 0:
        print(f"attest: they could not be kept, so commands start slower:\n{ended.stderr[-1000:]}", flush=True)


def copy_profile() -> None:
    profile = ROOT / "profiles.yml"
    if not profile.exists():
        shutil.copyfile(ROOT / "profiles.yml.example", profile)


def main() -> None:
    printed = check_machine()
    if not is_done("packages", LOCK, JARS_LOCK):
        install_packages()
        fetch_jars()
        done("packages", LOCK, JARS_LOCK)
    if not is_done("attest", PROJECT):
        install_attest()
        done("attest", PROJECT)
    if not is_done("classes", LOCK, JARS_LOCK, WARM, on=printed):
        keep_classes()
        done("classes", LOCK, JARS_LOCK, WARM, on=printed)
    copy_profile()


if __name__ == "__main__":
    main()
