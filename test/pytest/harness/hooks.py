"""Hooks in tests: made from texts, deleted at the end; what the log and a job say."""
import os

from .wait import until


class Hooks:
    """Makes hooks from texts, and deletes them at the end."""

    def __init__(self, cx):
        self.cx, self.names = cx, []

    def make(self, name, event, text, **attrs):
        path = os.path.join(self.cx.work, name + ".py")
        with open(path, "w", encoding="utf-8") as f:
            f.write("import pbs\ne = pbs.event()\n" + text + "\n")
        given = "".join(f",{k}={v}" for k, v in attrs.items())
        self.names.append(name)
        self.cx.qmgr(f"create hook {name} event='{event}'{given}", f"import hook {name} application/x-python default {path}")

    def delete(self):
        for name in self.names:
            self.cx.qmgr(f"delete hook {name}")
        self.names.clear()

    def clean(self):
        """For the next test: no hooks, jobs and reservations, and hosts that are in use."""
        self.delete()
        self.cx.clean()
        for resv in self.cx.api.stat("resv"):
            self.cx.api.delete_resv(resv.name)
        if self.cx.sched:
            self.cx.set_server("scheduling", "True")
        taken = [n.name for n in self.cx.api.stat("vnode") if "offline" in n.state]
        for name in taken:
            self.cx.command("pbsnodes", "-r", name)
            self.cx.qmgr(f"unset node {name} comment")
        if taken:
            until(lambda: not any("offline" in n.state for n in self.cx.api.stat("vnode")), "vnodes in use")


def log(cx):
    return cx.log("server")


def qsub(cx, *options, check=False, text="sleep 600"):
    return cx.command("qsub", *options, cx.script(text), check=check)


def job(cx, jobid):
    return cx.api.stat("job", jobid)[0]
