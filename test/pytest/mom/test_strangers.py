"""What an ordinary user of a host can do to the jobs of others there: names that can be guessed are taken in advance."""
import os
import pwd
import select
import signal
import stat
import subprocess

import pytest

from harness import api, users
from harness.ask import ended
from harness.faults import is_alive
from harness.mom_priv import configure_live
from harness.shepherds import kill_shepherd
from harness.terminal import at_work
from harness.wait import until
from harness.work import exists, touch

OWNER, STRANGER = users.NAMES[:2]
pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="takes users of several numbers"),
              pytest.mark.complex(history=True)]
KINDS = {"directory": "mkdir {}", "full directory": "mkdir -p {}/x", "file": "echo mine > {}", "link": "ln -s {}.to {}",
         "pipe": "mkfifo {}", "open directory": "mkdir -m 777 {}"}


def as_stranger(text, check=True):
    return subprocess.run(["setpriv", "--reuid", STRANGER, "--regid", str(pwd.getpwnam(STRANGER).pw_gid), "--init-groups",
                           "sh", "-c", text], check=check, capture_output=True, text=True)


def uid(name):
    return pwd.getpwnam(name).pw_uid


def place(cx, *names):
    return os.path.join(cx.dir, "mom", "n1", *names)


def next_job(cx):
    """The identifier that the next submission gets: anybody can tell."""
    job = cx.submit("true")
    cx.wait_gone(job)
    number, _, rest = job.partition(".")
    return f"{int(number) + 1}.{rest}"


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_runs_whatever_a_stranger_has_put_at_the_name_of_its_TMPDIR(cx, kind):
    victim = next_job(cx)
    taken = place(cx, "tmp", f"pbs.{victim}")
    as_stranger(KINDS[kind].format(taken, taken))
    before = os.lstat(taken)
    job = cx.submit("echo $TMPDIR; stat -c '%U %a' $TMPDIR; touch $TMPDIR/mine; case $PBS_PREEMPT_NOTICE in $TMPDIR/*) echo in;; esac")
    assert job == victim and ended(cx, job)["Exit_status"] == "0"
    tmpdir, rights, notice = cx.file("out").splitlines()
    assert tmpdir.startswith(taken + ".") and rights == f"{OWNER} 700" and notice == "in"
    after = os.lstat(taken)
    assert (before.st_uid, before.st_mode, before.st_ino) == (after.st_uid, after.st_mode, after.st_ino)
    assert os.listdir(place(cx, "tmp")) == [os.path.basename(taken)]


def test_a_TMPDIR_has_its_usual_name_where_that_is_free(cx):
    job = cx.submit("echo $TMPDIR")
    ended(cx, job)
    assert cx.file("out").strip() == place(cx, "tmp", f"pbs.{job}") and os.listdir(place(cx, "tmp")) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_runs_whatever_a_stranger_has_put_at_the_name_of_its_private_directory(cx, kind):
    root = os.path.join(cx.top, "jobdirs")
    os.mkdir(root)
    os.chmod(root, 0o1777)
    configure_live(cx, f"$jobdir_root {root}")
    victim = next_job(cx)
    taken = os.path.join(root, f"pbs.{victim}.x8z")
    as_stranger(KINDS[kind].format(taken, taken))
    job = cx.submit("pwd; echo $PBS_JOBDIR; stat -c '%U %a' .; touch mine", sandbox="PRIVATE")
    s = ended(cx, job)
    assert job == victim and s["Exit_status"] == "0"
    where, jobdir, rights = cx.file("out").splitlines()
    assert where == jobdir == s["jobdir"]
    assert where.startswith(taken + ".") and rights == f"{OWNER} 700"
    assert os.listdir(root) == [os.path.basename(taken)]


def test_a_stranger_cannot_take_names_in_the_spool(cx):
    job = cx.submit("echo began; while [ ! -e $PBS_O_WORKDIR/go ]; do sleep 0.02; done")
    cx.wait(job)
    spooled = place(cx, "spool", f"{job}.OU")
    until(lambda: os.path.exists(spooled), "its output")
    for text in (f"touch {place(cx, 'spool')}/other.OU", f"rm -f {spooled}", f"mv {spooled} {spooled}.x", f"cat {spooled}",
                 f"echo x >> {spooled}"):
        assert as_stranger(text, check=False).returncode != 0
    st = os.stat(spooled)
    assert (st.st_uid, stat.S_IMODE(st.st_mode)) == (uid(OWNER), 0o600)
    touch(cx, "go")
    assert ended(cx, job)["Exit_status"] == "0" and cx.file("out") == "began\n"


@pytest.mark.parametrize("kind", KINDS)
def test_files_that_strangers_put_into_an_open_spool_keep_no_job_from_its_output(cx, kind):
    """As an older MOM, or another system, has left it."""
    victim, spool = next_job(cx), place(cx, "spool")
    os.chmod(spool, 0o1777)
    for suffix in ("OU", "ER"):
        path = os.path.join(spool, f"{victim}.{suffix}")
        as_stranger(KINDS[kind].format(path, path))
    cx.restart("n1")
    until(lambda: cx.node().state == "free", "n1")
    job = cx.submit("echo out; echo err >&2")
    assert job == victim and ended(cx, job)["Exit_status"] == "0"
    assert stat.S_IMODE(os.stat(spool).st_mode) == 0o755
    assert cx.file("out") == "out\n" and cx.file("err") == "err\n"
    until(lambda: os.listdir(spool) == [], "an empty spool")
    assert os.stat(os.path.join(cx.work, "out")).st_uid == uid(OWNER)


def test_output_that_cannot_be_delivered_is_kept_beside_what_a_stranger_has_put_there(cx):
    victim = next_job(cx)
    taken = place(cx, "undelivered", f"{victim}.OU")
    as_stranger(f"mkdir {taken}")
    job = cx.submit("echo kept", Output_Path="/no/such/directory/out")
    ended(cx, job)
    [kept] = [name for name in os.listdir(place(cx, "undelivered")) if name.startswith(f"{job}.OU.")]
    with open(place(cx, "undelivered", kept), encoding="ascii") as f:
        assert job == victim and f.read() == "kept\n"


def test_a_message_for_a_job_that_has_let_go_of_its_terminal_does_not_reach_who_has_it_now(cx, sit):
    t = sit()
    job = at_work(t)
    t.type("tty\n")
    name = t.expect(r"(/dev/pts/\d+)\r\n").group(1)
    t.type(f"trap '' HUP; exec sh -c 'while [ ! -e {cx.work}/go ]; do sleep 0.02; done' </dev/null >/dev/null 2>&1\n")
    until(lambda: not os.path.exists(name), "the end of the terminal")
    others = []
    try:
        while not others or os.ttyname(others[-1][1]) != name:
            assert len(others) < 200
            others.append(os.openpty())
        cx.command("qmsg", "for the job alone", job, check=False)
        assert select.select([others[-1][0]], [], [], 0)[0] == []
    finally:
        for pair in others:
            os.close(pair[0])
            os.close(pair[1])
    touch(cx, "go")
    cx.wait_gone(job)


def test_escape_sequences_in_a_message_are_shown_and_not_obeyed(cx, sit):
    t = sit()
    job = at_work(t)
    cx.command("qmsg", "red \x1b[31m bell \x07 c1 \u009b line\nnext \u00e4", job)
    shown = t.expect(r"(?s)red .*next \S+")
    assert shown.group(0).startswith("red ^[[31m bell ^G c1 \\302\\233 line\r\nnext \u00e4")
    batch = cx.submit("touch $PBS_O_WORKDIR/began; while [ ! -e $PBS_O_WORKDIR/go ]; do sleep 0.02; done")
    until(lambda: exists(cx, "began") and cx.stat(batch)["substate"] == "42", "the job")
    cx.command("qmsg", "-O", "\x1b]0;title\x07", batch)
    touch(cx, "go")
    ended(cx, batch)
    assert cx.file("out") == "^[]0;title^G\n"
    t.type("exit\n")
    cx.wait_gone(job)


# --- programs and processes of root


def put_script(path, text, owner=0, mode=0o755):
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, mode)
    os.chown(path, owner, -1)


def test_a_manager_who_is_not_root_cannot_choose_the_program_that_root_runs_for_mail(cx):
    path = os.path.join(cx.work, "mailer")
    put_script(path, f"id -u > {cx.work}/mailed", uid(STRANGER))
    cx.qmgr(f"set server managers += {STRANGER}@*")
    for name in ("mailer", "MAILER"):
        refused = cx.command("qmgr", "-c", f"set server {name} = {path}", user=STRANGER, check=False)
        assert refused.returncode != 0 and "only root sets it" in refused.stderr
    refused = cx.command("qmgr", "-c", f"set server mailer = {path}", check=False)
    assert refused.returncode != 0 and f"{path} belongs to user {uid(STRANGER)}, not to root" in refused.stderr
    assert cx.command("qmgr", "-c", "set server mailer = relative", check=False).returncode != 0


@pytest.mark.parametrize("name", ["sched_priv", "Sched_Priv", "sched_log"])
def test_a_manager_who_is_not_root_cannot_choose_where_a_scheduler_of_root_reads_and_writes(cx, name):
    cx.qmgr(f"set server managers += {STRANGER}@*")
    cx.command("qmgr", "-c", "create sched s2", user=STRANGER)
    refused = cx.command("qmgr", "-c", f"set sched s2 {name} = {cx.work}", user=STRANGER, check=False)
    assert refused.returncode != 0 and "only root sets it" in refused.stderr
    cx.qmgr(f"set sched s2 {name} = {cx.work}")
    cx.command("qmgr", "-c", f"unset sched s2 {name}", user=STRANGER)
    cx.qmgr("delete sched s2")


@pytest.mark.parametrize("spoil", ["file", "directory"])
def test_a_mailer_that_another_user_can_change_is_not_run(cx, spoil):
    where = os.path.join(cx.top, "site")
    os.mkdir(where, 0o755)
    path = os.path.join(where, "mailer")
    put_script(path, f"touch {cx.work}/mailed")
    cx.set_server("mailer", path)
    cx.wait_gone(cx.submit("true", Mail_Points="e"))
    until(lambda: exists(cx, "mailed"), "the mail of a good program")
    os.remove(os.path.join(cx.work, "mailed"))
    os.chmod(path if spoil == "file" else where, 0o777)
    cx.wait_gone(cx.submit("true", Mail_Points="e"))
    refusal = "can be changed by others than its owner"
    until(lambda: exists(cx, "mailed") or refusal in cx.log("server"), "the refusal")
    assert not exists(cx, "mailed")


def test_a_script_of_an_action_in_a_directory_of_another_user_is_not_run(cx):
    where = os.path.join(cx.top, "tools")
    os.mkdir(where, 0o755)
    put_script(os.path.join(where, "save"), f"id -u > {cx.work}/saved; exit 1")
    configure_live(cx, f"$action checkpoint_abort 20 !{where}/save")
    cx.restart("n1")
    until(lambda: cx.node().state == "free", "n1")
    job = cx.submit("sleep 600")
    until(lambda: cx.stat(job)["substate"] == "42", "the job's first process")
    with pytest.raises(api.PbsError):
        cx.api.hold(job)
    assert cx.file("saved") == "0\n"
    os.remove(os.path.join(cx.work, "saved"))
    os.chown(where, uid(STRANGER), -1)
    with pytest.raises(api.PbsError) as refused:
        cx.api.hold(job)
    assert not exists(cx, "saved") and cx.state(job) == "R"
    assert f"{where} belongs to user {uid(STRANGER)}, not to root" in refused.value.text


def test_a_daemon_of_root_is_not_killed_for_what_its_environment_says(cx):
    """A prologue starts it, so it has PBS_JOBID and PBS_NODEFILE of the job."""
    put_script(place(cx, "mom_priv", "prologue"), f"setsid sh -c 'echo $$ > {cx.work}/daemon; exec sleep 600' >/dev/null 2>&1 &")
    job = cx.submit("setsid sleep 600 & echo $! > $PBS_O_WORKDIR/own; exec sleep 600", Rerunable="False")
    cx.blank("own")
    cx.wait(job)
    daemon = int(until(lambda: cx.file("daemon"), "the daemon"))
    own = int(until(lambda: cx.file("own"), "the job's own"))
    with open(f"/proc/{daemon}/environ", encoding="utf-8") as f:
        assert f"PBS_NODEFILE={place(cx, 'aux', job)}" in f.read().split("\0")
    kill_shepherd(cx, job)
    try:
        cx.wait_gone(job)
        until(lambda: not is_alive(own), "the end of what is the job's")
        assert is_alive(daemon)
    finally:
        os.kill(daemon, signal.SIGKILL)


def test_only_operators_and_managers_put_a_job_before_other_processes(cx):
    refused = cx.command("qsub", "-l", "nice=-5", "--", "/bin/true", user=STRANGER, check=False)
    assert refused.returncode != 0 and "nice -5: only operators and managers" in refused.stderr
    assert cx.command("qsub", "-l", "NICE=-5", "--", "/bin/true", user=STRANGER, check=False).returncode != 0
    job = cx.command("qsub", "-h", "-l", "nice=5", "--", "/bin/true", user=STRANGER).stdout.strip()
    for name in ("nice", "Nice"):
        refused = cx.command("qalter", "-l", f"{name}=-1", job, user=STRANGER, check=False)
        assert refused.returncode != 0
    assert cx.stat(job)["Resource_List"]["nice"] == "5"
    cx.command("qalter", "-l", "nice=-1", job)
    assert cx.stat(job)["Resource_List"]["nice"] == "-1"


def test_a_host_with_reject_root_scripts_runs_no_job_of_root(cx):
    cx.set_server("acl_roots", "root")
    roots = ("qsub", "-u", "root", "-o", os.path.join(cx.work, "out"), "--", "/usr/bin/id", "-u")
    job = cx.command(*roots).stdout.strip()
    assert ended(cx, job)["Exit_status"] == "0" and cx.file("out") == "0\n"
    os.remove(os.path.join(cx.work, "out"))
    configure_live(cx, "$reject_root_scripts true")
    cx.restart("n1")
    until(lambda: cx.node().state == "free", "n1")
    job = cx.command(*roots).stdout.strip()
    assert ended(cx, job)["Exit_status"] == "-10" and not exists(cx, "out")
    cx.wait_log("n1", "root is root, and this host has $reject_root_scripts")


def test_a_user_whom_this_host_alone_takes_for_root_runs_no_jobs_here(cx):
    """The passwd file of the host, which is not the server's, gives the user the number 0."""
    passwd = os.path.join(cx.top, "passwd")
    with open("/etc/passwd", encoding="utf-8") as f:
        lines = [line.split(":") for line in f]
    for words in lines:
        words[2] = "0" if words[0] == STRANGER else words[2]
    with open(passwd, "w", encoding="utf-8") as f:
        f.write("".join(":".join(words) for words in lines))
    cx.stop_daemon("n1")
    cx.command("unshare", "-m", "sh", "-c", f"mount --bind {passwd} /etc/passwd && exec pbs_complex restart n1 --dir {cx.dir}")
    until(lambda: cx.node().state == "free", "n1")
    job = cx.command("qsub", "--", "/bin/sh", "-c", f"touch {cx.work}/ran", user=STRANGER).stdout.strip()
    assert ended(cx, job)["Exit_status"] == "-10" and not exists(cx, "ran")
    cx.wait_log("n1", f"{STRANGER} has the number 0 on this host")


# --- what costs others time


def test_so_many_variables_are_refused_that_no_host_could_hand_them_over(cx):
    most = 32768 - 1  # the server adds PBS_O_QUEUE
    with pytest.raises(api.PbsError) as refused:
        cx.submit("true", Variable_List=",".join(f"A{i}=x" for i in range(most + 1)))
    assert refused.value.code == 15014 and "Variable_List has 32769 variables; the most is 32768" in refused.value.text
    with pytest.raises(api.PbsError) as refused:
        cx.submit("true", Variable_List="LONG=" + "x" * 131067)
    assert "Variable_List: LONG is 131072 bytes long; the most is 131071" in refused.value.text
    job = cx.submit("env | grep -c ^A", Variable_List=",".join(f"A{i}=x" for i in range(most)), Shell_Path_List="/bin/dash")
    assert ended(cx, job)["Exit_status"] == "0" and cx.file("out") == f"{most}\n"
    job = cx.submit("echo ${#LONG}", Variable_List="LONG=" + "x" * 131066)
    assert ended(cx, job)["Exit_status"] == "0" and cx.file("out") == "131066\n"


def test_variables_beyond_the_limit_are_refused_in_an_alteration_too(cx):
    job = cx.submit("true", Hold_Types="u", Variable_List="A=1")
    with pytest.raises(api.PbsError) as refused:
        cx.api.alter(job, [("Variable_List", None, ",".join(f"A{i}=x" for i in range(40000)))])
    assert "Variable_List has 40000 variables; the most is 32768" in refused.value.text
    assert cx.stat(job)["Variable_List"].startswith("A=1")
