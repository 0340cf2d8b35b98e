"""A host that cannot start processes takes its vnode out, says why, and is back by itself; jobs are tried elsewhere."""
import os
import re

import pytest

from cede.wait import until


def own_exec(cx, daemon):
    """PBS_EXEC of this MOM is a directory of its own, of links; the path of the program that it starts for each job."""
    with open(f"/proc/{cx.pid(daemon)}/environ", "rb") as f:
        conf = dict(word.split(b"=", 1) for word in f.read().split(b"\0") if b"=" in word)[b"PBS_CONF_FILE"].decode()
    with open(conf, encoding="ascii") as f:
        text = f.read()
    shared = re.search(r"^PBS_EXEC=(.*)$", text, re.M).group(1)
    own = os.path.join(cx.top, "exec")
    os.makedirs(os.path.join(own, "libexec"))
    for name in os.listdir(shared):
        if name != "libexec":
            os.symlink(os.path.join(shared, name), os.path.join(own, name))
    for name in os.listdir(os.path.join(shared, "libexec")):
        os.symlink(os.path.join(shared, "libexec", name), os.path.join(own, "libexec", name))
    with open(conf, "w", encoding="ascii") as f:
        f.write(re.sub(r"^PBS_EXEC=.*$", "PBS_EXEC=" + own, text, flags=re.M))
    cx.restart(daemon)
    until(lambda: "free" in cx.node(daemon).state, f"vnode {daemon}")
    return os.path.join(own, "libexec", "pbs_shepherd")


@pytest.mark.complex(nodes=2, ncpus=1)
@pytest.mark.parametrize("fault", ["gone", "broken"])
def test_a_mom_that_cannot_start_processes_is_down_says_why_and_comes_back(cx, fault):
    shepherd = own_exec(cx, "n1")
    os.rename(shepherd, shepherd + ".kept")
    if fault == "broken":
        os.symlink("/bin/false", shepherd)
    jobs = [cx.submit(select="1:ncpus=1") for _ in range(2)]
    until(lambda: "down" in cx.node("n1").state, "n1 to be taken out")
    assert "cannot start processes" in cx.node("n1")["comment"]
    until(lambda: sorted(cx.state(job) for job in jobs) == ["Q", "R"], "one job on n2, and one that waits")
    assert "cannot start processes" in cx.logs("n1", 400)
    if fault == "broken":
        os.unlink(shepherd)
    os.rename(shepherd + ".kept", shepherd)
    for job in jobs:
        cx.wait(job)
    assert "comment" not in cx.node("n1") and "down" not in cx.node("n1").state
