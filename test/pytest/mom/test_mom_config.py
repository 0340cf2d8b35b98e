"""Each directive of mom_priv/config with values that are right, wrong and said twice: as pbs_mom --check and as a MOM that reads it again."""
import os
import re
import subprocess

import pytest

from harness import build
from harness.mom_priv import priv, replace_lines
from harness.wait import until

TABLE = os.path.join(build.PROGRAMS, "..", "..", "..", "..", "mom", "mom", "node", "mom_config.def")
YES_NO = (["true", "False", "1", "no"], ["maybe", "2", ""])
SECONDS = (["7", "00:01:00"], ["soon", "-1", ""])
LIMIT = (["7", "00:01:00"], ["soon", "-1", "0", "90000"])
ANY = (["x 1"], [])  # of older systems: taken as it is
DIRECTIVES = {  # name: (values that are right, values that are wrong)
    "action": (["terminate 60 !/bin/true %jobid %uid", "checkpoint 0 !/bin/true %path", "checkpoint_abort 60 !/bin/true", "restart 60 !/bin/true",
                "multinodebusy 60 requeue"],
               ["", "nosuch 1 !/bin/true", "terminate soon !/bin/true", "terminate 60 /bin/true", "terminate 60 !true", "terminate",
                "multinodebusy soon requeue", "multinodebusy 60 rerun"]),
    "alien_attach": YES_NO, "alien_kill": YES_NO, "attach_allow": YES_NO, "cpuset": YES_NO, "restart_background": YES_NO,
    "restart_transmogrify": YES_NO, "restrict_user": YES_NO, "gen_nodefile_on_sister_mom": YES_NO, "vnodedef_additive": YES_NO,
    "vnode_per_numa_node": YES_NO, "reject_root_scripts": YES_NO, "report_hook_checksums": YES_NO,
    "checkpoint_adapter": (["app", "criu", "dmtcp", "none"], ["App", "", "app criu"]),
    "checkpoint_path": (["/tmp", "/tmp shared"], ["", "here", "/tmp x"]),
    "clienthost": (["h1", "*.dom"], []), "restricted": (["h1", "*.dom"], []),
    "configversion": ([], ["2", "3", "x"]),
    "cputmult": (["1.5", "2"], ["x", "0", "-1", ""]), "wallmult": (["1.5", "2"], ["x", "0", "-1", ""]),
    "device_allow": (["/dev/null rw", "c 1:3 rwm"], ["", "/etc/passwd rw", "/dev/null x", "q 1:3 rw"]),
    "enforce": (["mem", "!mem", "complexmem", "cpuaverage", "cpuburst", "average_cpufactor 1.5", "average_percent_over 20", "average_trialperiod 60",
                 "delta_cpufactor 1.5", "delta_percent_over 20", "delta_weightup 0.3", "delta_weightdown 0.2"],
                ["", "nosuch", "mem 3", "average_trialperiod", "average_trialperiod x", "delta_cpufactor -1"]),
    "ideal_load": (["1.5", "0"], ["x", "-1", ""]), "max_load": (["2", "1.5 suspend"], ["x", "-1", "2 stop", ""]),
    "jobdir_root": (["/tmp", "/tmp shared", "PBS_USER_HOME"], ["", "here", "/nosuch", "/tmp x"]),
    "kbd_idle": (["100", "100 10", "100 10 1"], ["", "x", "100 x", "100 1 1 1"]), "kbd_devices": (["/dev/tty1 /dev/tty2"], []),
    "kill_delay": SECONDS, "resource_poll": LIMIT, "prologalarm": LIMIT, "max_poll_downtime": SECONDS, "sister_join_job_alarm": SECONDS,
    "job_launch_delay": SECONDS, "server_lease": SECONDS,
    "logevent": (["0x3ff", "1023", "0777"], ["x", "-1", "", "0xg"]),
    "max_check_poll": (["30"], ["0", "x", "5"]), "min_check_poll": (["5"], ["0", "x", "300"]),
    "momname": (["n1", "n1.dom", "a_b-1"], ["", "a b", "a/b", "a;b"]), "port": (["15003"], ["x", "0", "99999", ""]),
    "nrun_factor": ANY, "spool_size": ANY, "pids_max": (["0", "1000"], ["x", "-1", "99999999"]),
    "restrict_user_exceptions": (["root,daemon"], ["nosuch-user", "root,nosuch-user", ",".join(["root"] * 11)]),
    "restrict_user_maxsysid": (["500", "0"], ["x", "-1"]),
    "suspendsig": (["SIGSTOP SIGCONT", "19 18", "TSTP", "STOP CONT"], ["", "NOSUCH", "99", "STOP CONT STOP"]),
    "tmpdir": (["/tmp"], ["", "here"]), "usecp": (["*:/home /home", "h1:/a/ /b/", "*.dom:/a /b"], ["", "h1:/a", "/a /b", "h1:/a /b /c"]),
    **{f"alps_{name}": ANY for name in ("client", "confirm_empty_timeout", "confirm_switch_timeout", "release_wait_time", "release_jitter", "release_timeout")}}
LINES_RIGHT = ["# only words", "", "   $kill_delay 4", "$kill_delay 4   # words", "memreserved 10", "pbs_accounting_workload_mgmt false", "licences 10",
               "dynamic !/bin/true"]
LINES_WRONG = ["$nosuch 1", "$", "$ kill_delay 4", "licences", "dynamic !true"]


def lines(which):
    """Each line with its directive, those of a kind: 0 right, 1 wrong."""
    return [f"${name} {value}".rstrip() for name, values in DIRECTIVES.items() for value in values[which]]


@pytest.fixture
def check(shared):
    """Ask pbs_mom what is wrong with a configuration of these lines: "" for nothing."""
    path = priv(shared, "tried")

    def ask(*lines_of_file):
        with open(path, "w", encoding="ascii") as f:
            f.write("".join(line + "\n" for line in lines_of_file))
        done = subprocess.run(["pbs_mom", "-d", os.path.join(shared.dir, "mom", "n1"), "-c", "tried", "--check"], env=shared.env, capture_output=True,
                              text=True, check=False)
        assert bool(done.returncode) == bool(done.stderr) and not done.stdout
        return done.stderr
    yield ask
    os.unlink(path)


def test_each_directive_has_its_values_here():
    with open(TABLE, encoding="utf-8") as f:
        assert set(re.findall(r"^CONFIG\((\w+),", f.read(), re.M)) == set(DIRECTIVES)


def test_a_value_that_is_right_is_taken_also_twice(check):
    wrong = {line: said for line in lines(0) + LINES_RIGHT if (said := check(line) + check(line, line))}
    assert not wrong, "\n".join(f"{k}: {v}" for k, v in wrong.items())
    assert not check(*(line for line in lines(0) if line.split()[0] not in ("$max_check_poll", "$min_check_poll")))


def test_a_value_that_is_wrong_is_refused_by_its_line_and_directive_also_behind_one_that_is_right(check):
    wrong = {}
    for line in lines(1) + LINES_WRONG:
        name = line.split()[0].lstrip("$")
        said = check("$kill_delay 4", line)
        if name not in said or "line 2" not in said and "check_poll(" not in said:
            wrong[line] = said
        right = DIRECTIVES.get(name, ([], []))[0]
        if right and not check(f"${name} {right[0]}", line):
            wrong[line] = "is taken behind one that is right"
    assert not wrong, "\n".join(f"{k}: {v}" for k, v in wrong.items())


@pytest.mark.complex(nodes=1, sched=False)
def test_a_host_keeps_its_configuration_where_any_line_of_the_new_one_is_wrong(cx):
    asked = lines(1) + LINES_WRONG
    for n, line in enumerate(asked, 1):
        replace_lines(cx, "ncpus 3", line)
        cx.wait_log("n1", "the old configuration stays", n)
        assert cx.node()["resources_available"]["ncpus"] == "4", line
    replace_lines(cx, "ncpus 3")
    until(lambda: cx.node()["resources_available"]["ncpus"] == "3", "the configuration that is right")
    assert cx.node().state == "free"
