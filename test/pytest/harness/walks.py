"""The walks of doc/structure.md."""
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[3] / "doc/structure.md"
STEP = re.compile(r"`((?:\w+/)+\w+\.(?:c|py|js))`(?:, `([\w.]+)`)?")


def walks():
    """{name: steps}; a step is the files that it names, in their order, each with the function to stop in, or ""."""
    text = PAGE.read_text(encoding="utf-8").split("## Walks")[1].split("\n## ")[0]
    return {walk.split("\n")[0]: [STEP.findall(step) for step in re.split(r"\n\d+\. ", walk)[1:]] for walk in text.split("\n### ")[1:]}


def stops(name):
    """[(file, function)] of a walk: the first of each step."""
    return [step[0] for step in walks()[name]]
