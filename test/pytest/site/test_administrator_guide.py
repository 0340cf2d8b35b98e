"""The administrator's guide can be typed: its lines, in their order, on two hosts that are namespaces."""
import pathlib
import re

import pytest

from harness import site as sites

why_not = sites.reason_against()
pytestmark = pytest.mark.skipif(why_not is not None, reason=str(why_not))
GUIDE = pathlib.Path(__file__).resolve().parents[3] / "doc" / "administrator-guide.md"


def lines():
    """(host, "#" or "$", command) of each line that can be typed."""
    return re.findall(r"^    (n[12])([#$]) (.*)$", GUIDE.read_text(encoding="utf-8"), re.M)


def test_each_line_of_the_administrators_guide_works_on_two_hosts(plan):
    site = plan().boot()
    hosts = {"n1": site.n1, "n2": site.n2}
    joins = None
    assert len(lines()) > 40
    for name, prompt, command in lines():
        if command.startswith("pbs_keys join"):
            command = joins
        said = hosts[name].user(f"cd; {command}") if prompt == "$" else hosts[name].root(command)
        if command.startswith("pbs_keys token"):
            joins = re.search(r"pbs_keys join .*", said).group(0)
