"""The guides of doc/ and the examples of the most used commands can be typed: every line that begins with `$` is run, one page in one shell,
and succeeds."""
import os
import pathlib
import re

import pytest

from harness import users

TOP = pathlib.Path(__file__).resolve().parents[3]
OF_MANAGERS = {"preemption-cookbook.md"}
GUIDES = sorted(p.name for p in (TOP / "doc").glob("*.md") if re.search(r"^    \$ ", p.read_text(encoding="utf-8"), re.M))


OF_USERS = ("qsub", "qstat", "qdel", "qalter", "qhold", "qrls", "qselect", "pbs_rsub")
COMMANDS = OF_USERS + ("pbsnodes", "tracejob", "pbs_preempt")


def examples(name):
    """The section EXAMPLES of a page, as a guide has its lines."""
    text = (TOP / "doc/man" / f"{name}.1").read_text(encoding="utf-8").split(".Sh EXAMPLES\n")[1].split("\n.Sh ")[0]
    blocks = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed$", text, re.M | re.S)
    return "".join(f"    {line}\n" for block in blocks for line in block.replace("\\e", "\\").replace("\\&", "").splitlines())


def typed(text):
    """The commands of a page: `    $ command`, with the lines of a here-document behind it."""
    commands, end = [], None
    for line in text.splitlines():
        inside = line[4:] if line.startswith("    ") else ""
        if end is not None:
            commands[-1] += "\n" + inside
            end = None if inside == end else end
        elif inside.startswith("$ "):
            commands.append(inside[2:])
            here = re.search(r"<<'?(\w+)'?", inside)
            end = here[1] if here else None
    return commands


@pytest.mark.complex(nodes=2, ncpus=4, history=True)
@pytest.mark.parametrize("name", GUIDES)
def test_each_line_of_a_guide_that_can_be_typed_works(cx, name):
    run(cx, typed((TOP / "doc" / name).read_text(encoding="utf-8")), name in OF_MANAGERS)


@pytest.mark.complex(nodes=2, ncpus=4, history=True)
def test_each_line_of_the_examples_of_the_most_used_commands_works(cx):
    for name in COMMANDS:
        commands = typed(examples(name))
        assert commands, name
        run(cx, commands, name not in OF_USERS)


def run(cx, commands, is_manager):
    """The commands in one shell, as a manager or as a user; what failed is said."""
    script = "set -e\n" + "".join(f"printf '%s\\n' {n}\n{command}\n" for n, command in enumerate(commands, 1))
    path = os.path.join(cx.work, "guide.sh")
    with open(path, "w", encoding="utf-8") as f:
        f.write(script)
    done = cx.command("bash", path, user=None if is_manager or os.geteuid() != 0 else users.NAMES[0], check=False, limit_s=150)
    reached = [line for line in done.stdout.splitlines() if line.isdigit()]
    assert done.returncode == 0, f"{commands[int(reached[-1]) - 1] if reached else script}\n{done.stdout}{done.stderr}"
