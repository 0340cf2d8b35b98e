"""tools/release, in a clone: what a release commits and tags, and what it refuses."""

import os
import re
import subprocess
from email.utils import parsedate_to_datetime

import pytest

from harness.installed import ROOT, source_version


def run(top, *words, check=True):
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "Tester"), ("EMAIL", "t@localhost"))}
    return subprocess.run(words, cwd=top, env={**os.environ, **who}, capture_output=True, text=True, check=check)


@pytest.fixture
def clone(tmp_path):
    top = str(tmp_path / "clone")
    run(str(tmp_path), "git", "-c", "safe.directory=*", "clone", "-q", "--no-tags", ROOT, top)
    return top


def read(top, *names):
    with open(os.path.join(top, *names), encoding="utf-8") as f:
        return f.read()


def test_a_release_dates_its_changes_is_tagged_and_opens_the_next_version(clone):
    version = source_version(clone)
    former = read(clone, "packaging", "releases")
    run(clone, "tools/release", "99.0.1")
    tagged = run(clone, "git", "rev-parse", f"v{version}^{{commit}}").stdout.strip()
    assert tagged == run(clone, "git", "rev-parse", "HEAD^").stdout.strip()
    assert read(clone, "packaging", "releases") == former + f"{version} {tagged}\n"
    at_tag = run(clone, "git", "show", f"{tagged}:CHANGELOG.md").stdout
    assert f"## {version} (20" in at_tag and "(unreleased)" not in at_tag
    assert f"\n## 99.0.1 (unreleased)\n\n## {version} (20" in read(clone, "CHANGELOG.md")
    assert source_version(clone) == "99.0.1" and read(clone, "packaging", "debian", "changelog").startswith("cede (99.0.1) ")
    assert run(clone, "git", "status", "--porcelain").stdout == ""
    youngest, before = re.findall(r"^ -- .*>  (.*)$", read(clone, "packaging", "debian", "changelog"), re.M)[:2]
    assert parsedate_to_datetime(youngest) > parsedate_to_datetime(before)  # else lintian finds an error
    again = run(clone, "tools/release", "99.0.2")
    assert "v99.0.1 is tagged, and 99.0.2 is open" in again.stdout
    assert [line.split()[0] for line in read(clone, "packaging", "releases").splitlines()[-2:]] == [version, "99.0.1"]


@pytest.mark.parametrize("spoil, next_version, words", [
    ("true", "0.0.1", "is not later than"),
    ("true", "99", "three numbers"),
    ("echo more >>README.md", "99.0.1", "changes that are not committed"),
    ("git tag v$(sed -n 's/^VERSION  := //p' GNUmakefile)", "99.0.1", "is a tag already"),
    ("sed -i 's/ (unreleased)//' CHANGELOG.md; git commit -qam 'doc: no section'", "99.0.1", "CHANGELOG.md has no line"),
    ("sed -i '1s/(.*)/(0.0.1)/' packaging/debian/changelog; git commit -qam 'packaging: another'", "99.0.1", "does not begin with"),
])
def test_a_release_that_is_refused_changes_nothing(clone, spoil, next_version, words):
    run(clone, "sh", "-c", spoil)
    before = [run(clone, *command).stdout for command in (("git", "rev-parse", "HEAD"), ("git", "tag"), ("git", "diff"))]
    done = run(clone, "tools/release", next_version, check=False)
    assert done.returncode == 1 and words in done.stderr
    assert before == [run(clone, *command).stdout for command in (("git", "rev-parse", "HEAD"), ("git", "tag"), ("git", "diff"))]
