"""Hook scripts on a desk: pbs_python --hook with files of a temporary directory."""
import os
import subprocess
import sys
from dataclasses import dataclass, field


def package():
    """The module pbs of the build, imported into the test's own process."""
    place = os.path.join(os.environ["CEDE_BUILD"], "lib", "python")
    if place not in sys.path:
        sys.path.insert(0, place)
    import pbs

    return pbs


@dataclass
class Outcome:
    status: int
    out: dict = field(default_factory=dict)
    log: str = ""
    stderr: str = ""

    @property
    def accepted(self):
        return self.out["pbs.event().accept"] == "True"

    @property
    def message(self):
        return self.out.get("pbs.event().reject_msg")

    def changes(self):
        """What was set, without the decision."""
        return {k: v for k, v in self.out.items() if not k.startswith(("pbs.event().accept", "pbs.event().reject"))}


def desk(tmp, script, event, data="", server="", resourcedef=None, env=None, name="h", options=()):
    """Run a script (text, or the path of a .py file) for an event whose lines are in `data`."""
    if script.endswith(".py"):
        path = script
    else:
        path = os.path.join(tmp, "h.PY")
        with open(path, "w", encoding="utf-8") as f:
            f.write(script)
    texts = {"in": f"pbs.event().hook_name={name}\n{data}", "data": server, "resourcedef": resourcedef or ""}
    for file, text in texts.items():
        with open(os.path.join(tmp, file), "w", encoding="utf-8") as f:
            f.write(text)
    command = [os.path.join(os.environ["CEDE_BUILD"], "bin", "pbs_python"), "--hook", "-e", event, "-i", "in", "-s", "data", "-l", "log", "-o", "out",
               *(["-r", "resourcedef"] if resourcedef else []), *options, path]
    for left in ("log", "out"):
        if os.path.exists(os.path.join(tmp, left)):
            os.remove(os.path.join(tmp, left))
    done = subprocess.run(command, cwd=tmp, env={**os.environ, **(env or {})}, capture_output=True, text=True, timeout=120)

    def read(file):
        place = os.path.join(tmp, file)
        return open(place, encoding="utf-8").read() if os.path.exists(place) else ""

    out = dict(line.split("=", 1) for line in read("out").splitlines() if "=" in line)
    return Outcome(done.returncode, {k: v.strip('"') for k, v in out.items()}, read("log"), done.stderr)
