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
    token = None
    assert len(lines()) > 40
    for name, prompt, command in lines():
        if "TOKEN" in command:
            command = command.replace("TOKEN", token)
        said = hosts[name].user(f"cd; {command}") if prompt == "$" else hosts[name].root(command)
        if command.startswith("pbs_setup token"):
            token = re.search(r"--token (\S+)", said).group(1)
