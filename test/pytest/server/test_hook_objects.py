"""Hooks as objects: what qmgr makes of them, what it refuses, and what the server keeps."""
import os

import pytest

from harness import api, users

GOOD = "import pbs\npbs.event().accept()\n"

pytestmark = pytest.mark.complex(nodes=0, sched=False)


def ask(cx, *lines, user=None, check=True, stdin=None):
    return cx.command("qmgr", *[w for line in lines for w in ("-c", line)], user=user, check=check, stdin=stdin)


def refused(cx, line, user=None):
    """The two lines of a refusal; returns the first one's text."""
    done = ask(cx, line, user=user, check=False)
    said = done.stderr.splitlines()
    assert done.returncode != 0 and said[-1] == "qmgr: hook error returned from server", done
    return said[0].split(": ", 1)[1]


def script(cx, text, name="hook.py"):
    path = os.path.join(cx.work, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def listed(cx, name):
    return [line.strip() for line in ask(cx, f"list hook {name}").stdout.splitlines() if line.strip()]


def kept(cx, name):
    return os.path.join(cx.home, "server_priv/hooks", name)


def test_a_new_hook_has_the_defaults_and_a_control_file(complex):
    ask(complex, "create hook fresh event=queuejob")
    assert listed(complex, "fresh") == ["Hook fresh", "type = site", "enabled = true", "event = queuejob", "user = pbsadmin",
                                        "alarm = 30", "order = 1", "debug = false", "fail_action = none"]
    with open(kept(complex, "fresh.HK"), encoding="utf-8") as f:
        assert f.read() == "hook_name=fresh\nevent=queuejob\n"
    complex.wait_log("server", "fresh;created at request of ")


def test_only_root_of_the_host_may_ask_about_hooks(complex):
    if not users.available():
        pytest.skip("commands are run as another user: needs root")
    user = users.available()[0]
    for line in ("create hook theirs", "list hook", "export hook x application/x-python default"):
        assert "is unauthorized to access hooks data from server" in refused(complex, line, user=user)


def test_events_are_added_and_taken_away_in_the_order_of_pbs(complex):
    ask(complex, "create hook many event='runjob,queuejob'", "set hook many event += movejob")
    assert "event = queuejob,movejob,runjob" in listed(complex, "many")
    ask(complex, "set hook many event -= 'queuejob,runjob'")
    assert "event = movejob" in listed(complex, "many")
    ask(complex, 'set hook many event = ""')
    assert 'event = ""' in listed(complex, "many")


@pytest.mark.parametrize("line, text", [
    ("create hook twice", "hook name 'twice' already registered, try another name"),
    ("create hook PBS_x", "hook_name 'PBS_x', cannot use PBS as a prefix it is reserved for pbs hooks"),
    ("create pbshook x", "hook_name 'x', must use PBS as a prefix since this is a pbs hook."),
    ("set hook none enabled=true", "none does not exist!"),
    ("delete hook none", "none does not exist!"),
    ("list hook none", "hook not found"),
    ("set hook twice enabled=perhaps", "unexpected value 'perhaps', must be (not case sensitive) true|t|y|1|false|f|n|0"),
    ("set hook twice order=1001", "order given (1001) is outside the acceptable range of [1, 1000] for type 'site'."),
    ("set hook twice alarm=0", "set_hook_alarm: alarm value '0' of a hook must be > 0"),
    ("set hook twice event=periodic,freq=0", "set_hook_freq: freq value '0' of a hook must be > 0"),
    ("set hook twice freq=5", "set_hook_freq: Can't set hook freq value: hook event must contain at least'exechost_periodic' or 'periodic'"),
    ("set hook twice event=periodic,freq=5x", "set_hook_freq: encountered a non-digit freq value: x"),
    ("set hook twice user=bob", "user value of a hook must be pbsadmin,pbsuser"),
    ("set hook twice event=periodic,user=pbsuser", "user value of a server periodic hook must be pbsadmin"),
    ("set hook twice type=pbs", "not allowed to set hook to 'pbs' type"),
    ("set hook twice nonsense=1", "Undefined attribute  - nonsense"),
    ("set hook twice alarm+=5", "'alarm' operator not ="),
    ("set hook twice fail_action=offline_vnodes", "Can't set hook fail_action value to 'offline_vnodes': hook event must contain at least "
     "one of execjob_begin, exechost_startup, execjob_prologue"),
    ("set pbshook twice enabled=false", "cannot set attributes of a 'site' hook"),
    ("set hook twice event=provision", "event provision: vnodes are not provisioned here"),
    ("set hook twice event=provision", "event provision: vnodes are not provisioned here"),
    ("export hook twice application/x-python default", None),
    ("export hook twice text/plain default", "<content-type> must be application/x-python"),
])
def test_impossible_settings_of_a_hook_are_refused_with_the_words_of_pbs(complex, line, text):
    ask(complex, "create hook twice", check=False)
    before = listed(complex, "twice")
    text = text or f"failed to open {kept(complex, 'twice.PY')} - error No such file or directory"
    assert refused(complex, line) == text
    assert listed(complex, "twice") == before


def test_an_attribute_of_any_order_in_a_line_is_applied(complex):
    ask(complex, "create hook lines freq=7,event=periodic")
    assert "freq = 7" in listed(complex, "lines")
    ask(complex, "set hook lines event=queuejob")
    assert "freq = 7" not in listed(complex, "lines")


def test_settings_that_do_nothing_or_nothing_yet_are_said_in_the_log(complex):
    ask(complex, "create hook turns event=periodic,order=5")
    complex.wait_log("server", "turns;Setting order for a periodic hook has no effect")
    ask(complex, "set hook turns order=6")
    complex.wait_log("server", "turns;Setting order for a periodic hook has no effect", times=2)
    assert "order = 6" in listed(complex, "turns") and "turns;periodic hook is missing" not in complex.log("server")
    ask(complex, "set hook turns enabled=true")
    complex.wait_log("server", "turns;periodic hook is missing information, check hook frequency and script")
    ask(complex, f"import hook turns application/x-python default {script(complex, GOOD)}", "set hook turns enabled=true", "create hook host event=exechost_periodic",
        "set hook host order=3", "set hook host enabled=true", "create hook once event=queuejob,order=5")
    complex.wait_log("server", "host;Setting order for a periodic hook has no effect")
    said = complex.log("server")
    assert [said.count(f"{hook};Setting order") for hook in ("turns", "host", "once")] == [2, 1, 0]
    assert [said.count(f"{hook};periodic hook is missing") for hook in ("turns", "host")] == [1, 0]


def test_an_import_or_export_names_a_parameter_that_it_does_not_know(complex):
    ask(complex, "create hook plain event=queuejob")
    for command, which in ((7, "input-file"), (8, "output-file")):
        with pytest.raises(api.PbsError) as e:
            complex.api.manager(command, 8, "plain", [("content-type", None, "application/x-python"), ("content-encoding", None, "default"),
                                                      (which, None, "f"), ("colour", None, "red")])
        assert e.value.code == 15136 and "unrecognized parameter - colour" in e.value.text


def test_a_script_keeps_its_bytes_from_import_to_export(complex):
    text = "# -*- coding: utf-8 -*-\n# äöü \u20ac\n" + GOOD + "# no newline at the end"
    path = script(complex, text)
    ask(complex, "create hook bytes")
    assert ask(complex, f"import hook bytes application/x-python default {path}").stderr == ""
    again = ask(complex, f"import hook bytes application/x-python default {path}")
    assert again.stderr == "hook 'bytes' contents overwritten\n"
    assert ask(complex, "export hook bytes application/x-python default").stdout == text
    out = os.path.join(complex.work, "out.py")
    ask(complex, f"export hook bytes application/x-python default {out}")
    with open(out, encoding="utf-8") as f, open(kept(complex, "bytes.PY"), encoding="utf-8") as g:
        assert f.read() == text == g.read()


def test_a_script_that_does_not_compile_leaves_the_old_one(complex):
    ask(complex, "create hook broken")
    bad, good = script(complex, "def f(:\n", "bad.py"), script(complex, GOOD)
    assert refused(complex, f"import hook broken application/x-python default {bad}") == "Failed to compile script"
    ask(complex, f"import hook broken application/x-python default {good}")
    assert refused(complex, f"import hook broken application/x-python default {bad}") == \
        "Failed to compile script, hook 'broken' contents not overwritten"
    assert ask(complex, "export hook broken application/x-python default").stdout == GOOD


def test_a_configuration_is_checked_by_its_suffix(complex):
    ask(complex, "create hook conf")
    good, bad = script(complex, '{"a": 1}\n', "c.json"), script(complex, "{a", "bad.json")
    ask(complex, f"import hook conf application/x-config default {good}")
    assert refused(complex, f"import hook conf application/x-config default {bad}") == \
        "Failed to validate config file, hook 'conf' config file not overwritten"
    assert refused(complex, f"import hook conf application/x-config default {script(complex, 'x', 'c.yaml')}") == \
        "<input-file> contains an invalid suffix, should be one of: .json .py .txt .xml .ini"
    assert ask(complex, "export hook conf application/x-config default").stdout == '{"a": 1}\n'


def test_the_output_of_print_hook_makes_the_same_hook_again(complex):
    ask(complex, "create hook again event='queuejob,runjob',order=7,alarm=9",
        f"import hook again application/x-python default {script(complex, GOOD)}")
    before, lines = listed(complex, "again"), ask(complex, "print hook again").stdout
    assert "# Create and define hook again" in lines and "import hook again application/x-python base64 -" in lines
    ask(complex, "delete hook again")
    assert not os.path.exists(kept(complex, "again.HK")) and not os.path.exists(kept(complex, "again.PY"))
    complex.command("qmgr", stdin=lines)
    assert listed(complex, "again") == before
    assert ask(complex, "export hook again application/x-python default").stdout == GOOD


def test_hooks_are_there_after_the_server_was_killed(complex):
    ask(complex, "create hook lasting event=movejob,order=3", f"import hook lasting application/x-python default {script(complex, GOOD)}")
    before = listed(complex, "lasting")
    os.unlink(kept(complex, "lasting.PY"))
    complex.crash_server()
    assert listed(complex, "lasting") == before
    assert ask(complex, "export hook lasting application/x-python default").stdout == GOOD
    with open(kept(complex, "lasting.PY"), encoding="utf-8") as f:
        assert f.read() == GOOD
