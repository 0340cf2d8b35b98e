"""What a test writes into mom_priv of a node: lines of its configuration, and scripts of the site."""
import os
import signal

from harness.wait import until


def priv(cx, name, node="n1"):
    return os.path.join(cx.dir, "mom", node, "mom_priv", name)


def configure(cx, *lines, node="n1"):
    """The MOM starts with these lines more."""
    with open(priv(cx, "config", node), "a", encoding="ascii") as f:
        f.write("".join(line + "\n" for line in lines))
    cx.restart(node)
    until(lambda: cx.node(node)["state"] == "free", "the node")


def configure_live(cx, *lines):
    """mom_priv/config of n1 gets these lines more, and the MOM has read it."""
    with open(priv(cx, "config"), "a", encoding="ascii") as f:
        f.write("".join(line + "\n" for line in lines))
    before = cx.log("n1").count("jobs are confined by")
    os.kill(cx.pid("n1"), signal.SIGHUP)
    until(lambda: cx.log("n1").count("jobs are confined by") > before, "the new configuration")


def without_checkpoint(cx, node="n1"):
    """The MOM uses none of its adapters: it saves nothing."""
    configure(cx, "$checkpoint_adapter none", node=node)


def script(cx, name, text, node="n1"):
    """A script of the site; its path."""
    path = priv(cx, name, node)
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, 0o755)
    return path
