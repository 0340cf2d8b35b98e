"""What a test writes into mom_priv of a node: lines of its configuration, and scripts of the site."""
import os
import signal

from harness.wait import until


def priv(cx, name, node="n1"):
    return os.path.join(cx.dir, "mom", node, "mom_priv", name)


def add_lines(cx, *lines, node="n1"):
    """mom_priv/config gets these lines more; the MOM does not know yet."""
    with open(priv(cx, "config", node), "a", encoding="ascii") as f:
        f.write("".join(line + "\n" for line in lines))


def reread(cx, node="n1"):
    """The MOM is told to read its configuration again."""
    os.kill(cx.pid(node), signal.SIGHUP)


def replace_lines(cx, *lines, node="n1"):
    """These lines are behind those of the complex, instead of those of the call before; a MOM that runs is told."""
    path = priv(cx, "config", node)
    with open(path, encoding="ascii") as f:
        text = f.read().partition("# ---\n")[0]
    with open(path, "w", encoding="ascii") as f:
        f.write(text + "# ---\n" + "".join(line + "\n" for line in lines))
    if cx.pid(node):
        reread(cx, node)


def configure(cx, *lines, node="n1"):
    """The MOM starts with these lines more."""
    add_lines(cx, *lines, node=node)
    cx.restart(node)
    until(lambda: cx.node(node)["state"] == "free", "the node")


def configure_live(cx, *lines, node="n1"):
    """mom_priv/config gets these lines more, and the MOM has read it."""
    add_lines(cx, *lines, node=node)
    before = cx.log(node).count("jobs are confined by")
    reread(cx, node)
    until(lambda: cx.log(node).count("jobs are confined by") > before, "the new configuration")


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
