"""What a user puts into the environment of a job reaches the job, and no program of the site that acts for it as root."""
import os

import pytest

from harness.ask import ended
from harness.mom_priv import configure_live, priv
from harness.wait import until

pytestmark = [pytest.mark.complex(nodes=1, history=True),
              pytest.mark.skipif(os.geteuid() != 0, reason="only root runs jobs of others")]

NAMES = ("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PERL5OPT", "IFS",
         "BASH_ENV", "ENV", "PATH", "HOME", "SHELL", "TMPDIR", "CDPATH", "GCONV_PATH", "LOCPATH", "PS4", "SHELLOPTS", "BASH_FUNC_id%%",
         "PBS_EXEC", "PBS_HOME", "PBS_CONF_FILE", "PBS_O_MINE", "PBS_O_HOME=LD_PRELOAD", "", "A B", "a\nLD_PRELOAD")
STEPS = ("execjob_begin", "execjob_prologue", "execjob_launch", "execjob_epilogue", "execjob_end")
LARGE = "l" * 100000  # a program takes no longer variable (MAX_ARG_STRLEN)


def hostile(cx):
    evil = os.path.join(cx.work, "evil")
    os.makedirs(evil, exist_ok=True)
    for name in ("pbs.py", "sitecustomize.py", "usercustomize.py", "json.py"):
        with open(os.path.join(evil, name), "w", encoding="ascii") as f:
            f.write(f"open('{cx.work}/taken', 'a').write('{name}\\n')\n")
    pairs = [f"{name}={evil}" for name in NAMES] + [f"PBS_O_LANG=x\nLD_PRELOAD={evil}", f"LARGE={LARGE}", f"PBS_O_MAIL={LARGE}"]
    return ",".join([*pairs, f"PBS_O_WORKDIR={cx.work}"])


def begin(cx, name):
    """An empty file for a root script, and its path."""
    path = os.path.join(cx.work, name)
    with open(path, "wb"):
        pass
    os.chmod(path, 0o666)
    return path


def variables(path):
    """What `env -0` or a hook has written, entry by entry."""
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        entries = [x for x in f.read().split("\0") if x]
    return dict(x.split("=", 1) for x in entries)


def reached(found):
    """Names of variables of a program of root that hold what the user wrote, except what qsub says of a submission."""
    return {name for name, value in found.items() if "/evil" in value and name not in ("PBS_O_LANG", "PBS_O_HOME") or len(value) > 1 << 15}


@pytest.mark.parametrize("which", ["prologue", "epilogue", "terminate"])
def test_no_script_of_the_site_sees_a_variable_of_the_user(cx, which):
    path, uid, mine = (begin(cx, name) for name in ("seen", "uid", "mine"))
    text = f"/usr/bin/env -0 > {mine}\n" + "exec /bin/sleep 600" * (which == "terminate")
    with open(priv(cx, which), "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\nenv -0 > {path}; id -u > {uid}\n")
    os.chmod(priv(cx, which), 0o755)
    if which == "terminate":
        configure_live(cx, f"$action terminate 60 !{priv(cx, which)} %jobid")
    job = cx.submit(text, Shell_Path_List="/bin/sh", Variable_List=hostile(cx))
    if which == "terminate":
        until(lambda: "PYTHONPATH" in (cx.file("mine") or ""), lambda: cx.describe(job))
        cx.api.delete(job)
    ended(cx, job)
    assert {"LD_AUDIT", "PYTHONPATH", "BASH_ENV"} <= reached(variables(mine))  # the job has them
    assert cx.file("uid") == "0\n"
    found = variables(path)
    assert found["PBS_JOBID"] == job and not reached(found), reached(found)
    assert not cx.file("taken")


def test_no_hook_of_a_host_or_of_the_server_runs_with_a_variable_of_the_user(complex, hooks):
    cx = complex
    for step in (*STEPS, "queuejob", "runjob"):
        path = begin(cx, step)
        hooks.make(step, step, f"import os\nwith open('{path}', 'w') as f:\n"
                   "    f.write('\\0'.join(f'{k}={v}' for k, v in {**os.environ, 'UID_NOW': str(os.getuid())}.items()))\n")
    job = cx.submit("true", Shell_Path_List="/bin/sh", Variable_List=hostile(cx))
    ended(cx, job)
    for step in (*STEPS, "queuejob", "runjob"):
        found = until(lambda step=step: variables(os.path.join(cx.work, step)), step)
        assert not reached(found) and found["UID_NOW"] == "0", (step, reached(found))
    assert not cx.file("taken")


def test_a_mail_program_and_its_message_hold_nothing_that_the_user_wrote_as_a_header(cx):
    path, message = begin(cx, "seen"), begin(cx, "message")
    mailer = os.path.join(cx.top, "mailer")
    with open(mailer, "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\nenv -0 > {path}\ncat > {message}.new; mv {message}.new {message}\n")
    os.chmod(mailer, 0o755)
    cx.set_server("mailer", mailer)
    cx.submit("true", Shell_Path_List="/bin/sh", Mail_Points="b", Mail_Users="a@b\nBcc: all@example.org,-oX,c@d",
              Account_Name="x\nBcc: all@example.org", Variable_List=hostile(cx))
    text = until(lambda: cx.file("message"), "the mail")
    head = text.split("\n\n", 1)[0]
    assert "c@d" in head and "Bcc" not in head and "-oX" not in head, head
    assert not reached(variables(path))
