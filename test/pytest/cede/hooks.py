"""Hooks in tests: made from texts, deleted at the end; what the log and a job say."""
import os


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


def log(cx):
    return cx.log("server")


def qsub(cx, *options, check=False, text="sleep 600"):
    return cx.command("qsub", *options, cx.script(text), check=check)


def job(cx, jobid):
    return cx.api.stat("job", jobid)[0]
