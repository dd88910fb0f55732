"""Another project uses attest as a wheel and a dbt package, without a file of it copied."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest
from engine import ROOT
from test_docs import commands

PAGE = "docs/package.md"
# As they are named in a licence field, or after the last :: of a classifier.
PERMISSIVE = r"0?BSD|MIT|Apache|Artistic|CC0|CNRI-Python|MPL|Mozilla|Python Software|PSF|Zlib"
# Types commands in one process, so that Spark starts once; says which attest it was that ran them.
TYPING = """
import json, sys
import attest, dbt_attest
from attest import cli
from dbt.cli.main import dbtRunner
for program, *words in json.loads(sys.argv[1]):
    if program == "attest":
        assert cli.main(words) == 0, words
    else:
        done = dbtRunner().invoke(["--quiet", *words])
        assert done.success, (words, done.exception or [str(one.message) for one in done.result])
print("by", attest.__file__, dbt_attest.__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that the page's command builds of a copy of the package."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT / "python", folder / "python", ignore=shutil.ignore_patterns("*.egg-info", "build"))
    [words] = [words for words in commands(PAGE) if words[0] == "python"]
    subprocess.run([sys.executable, *words[1:]], cwd=folder, check=True, capture_output=True, text=True)
    [built] = (folder / "dist").glob("*.whl")
    return built


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    source = ROOT / "python/src"
    files = {
        str(file.relative_to(source))
        for package in ("attest", "dbt_attest")
        for file in (source / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    with zipfile.ZipFile(wheel) as held:
        names = {name for name in held.namelist() if ".dist-info/" not in name}
        [metadata] = [held.read(name).decode() for name in held.namelist() if name.endswith("/METADATA")]
    assert names == files
    declared = re.search(r"^version: (\S+)$", (ROOT / "dbt_project.yml").read_text(), re.MULTILINE)
    assert declared is not None
    assert f"\nVersion: {declared[1]}\n" in metadata


def test_a_second_project_builds_with_the_wheel_and_the_dbt_package(wheel: Path, tmp_path: Path) -> None:
    installed, project = tmp_path / "installed", tmp_path / "offices"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(installed), str(wheel)]
    subprocess.run(pip, check=True, capture_output=True, text=True)
    shutil.copytree(ROOT / "examples/offices", project)
    (project / "packages.yml").write_text(json.dumps({"packages": [{"local": str(ROOT)}]}))
    shutil.copyfile(ROOT / "profiles.yml.example", project / "profiles.yml")
    typed = [words for words in commands(PAGE) if words[0] != "python"]
    assert [words[:2] for words in typed] == [
        ["dbt", "deps"], ["attest", "land"], ["dbt", "build"], ["attest", "why"], ["attest", "preview"],
    ]  # fmt: skip
    there = {"PYTHONPATH": str(installed), "ATTEST_LAKE": str(project / "lake"), "ATTEST_SCHEMA": "offices"}
    there |= {"ATTEST_TARGET": "local", "DBT_PROFILES_DIR": str(project)}
    ran = subprocess.run(
        [sys.executable, "-c", TYPING, json.dumps(typed)],
        cwd=project, env=os.environ | there, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    assert re.search(rf"^by {installed}/attest/\S+ {installed}/dbt_attest/\S+$", ran.stdout, re.MULTILINE)
    assert re.search(r"^  city +Leeds +PROPERTY", ran.stdout, re.MULTILINE)
    assert re.search(r"^  phone +0113 496 0999 +PROPERTY", ran.stdout, re.MULTILINE)
    assert "## office: 2 known" in ran.stdout
    assert "Nothing changes" in ran.stdout


def licences(package: Distribution) -> list[str]:
    """What may be chosen of: an expression's alternatives, or its classifiers, or what its field says."""
    said = package.metadata
    if "License-Expression" in said:
        return str(said["License-Expression"]).split(" OR ")
    classifiers = [one.split(" :: ")[-1] for one in said.get_all("Classifier") or () if one.startswith("License ::")]
    return classifiers or str(said["License"]).split(" OR ")


def is_permissive(licence: str) -> bool:
    """Each part of it: what is `MPL-2.0 AND MIT` is both."""
    return all(re.search(PERMISSIVE, part) for part in licence.split(" AND "))


def test_everything_installed_has_a_permissive_licence() -> None:
    assert not is_permissive("MIT AND GPL-2.0-only")
    assert not is_permissive("GNU General Public License (GPL)")
    found = {package.metadata["Name"]: licences(package) for package in distributions()}
    assert len(found) > 50
    assert {name: said for name, said in found.items() if not any(map(is_permissive, said))} == {}
