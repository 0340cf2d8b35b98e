"""What counts as a checkpoint, and whose its image is: an image that is not there, not whole, or not what was written."""
import os
import pwd
import shutil
import subprocess

import pytest

from harness import api, users
from harness.checkpoints import SAVE, both_hosts, preempt, running, small_disk, spread, stop, tool
from harness.faults import is_alive
from harness.mom_priv import configure, script
from harness.wait import until

CKPSHORT = 15061  # PBSE_CKPSHORT: not all of the job was saved
history = pytest.mark.complex(history=True)
alone = pytest.mark.complex(history=True, sched=False)
both = pytest.mark.complex(nodes=2, history=True)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="an attack by the job's owner needs a second account")

# What a script of the site may do that is not a checkpoint; $3 is where the image is to be.
BAD = {
    "exits 3 and writes nothing": "exit 3",
    "exits 0 and writes nothing": "exit 0",
    "exits 3 with half an image while the job lives": "mkdir $3; echo half > $3/core; exit 3",
    "writes files without content": "mkdir -p $3/deep; : > $3/deep/core",
    "leaves a link for an image": "ln -s /etc $3",
    "leaves a pipe in the image": "mkdir $3; echo half > $3/core; mkfifo $3/pipe",
    "is killed": "mkdir $3; echo half > $3/core; kill -KILL $$",
    "loses its directory": "rm -rf ${3%/*}",
}


def lives_on(cx, job, pid):
    s = cx.stat(job)
    assert s["job_state"] == "R" and s["run_count"] == "1" and is_alive(pid)
    assert "checkpointed to" not in cx.log("n1") and not os.path.exists(image(cx, job))
    until(lambda: not os.path.lexists(image(cx, job) + ".new"), "the end of what the script has left")


def image(cx, job, node="n1"):
    return os.path.join(cx.dir, "mom", node, "checkpoint", f"{job}.CK", "00000001")


@pytest.mark.complex(history=True, sched=False)
@pytest.mark.parametrize("what", BAD)
def test_no_checkpoint_counts_where_the_script(cx, what):
    """The job runs on, the hold says why, and method C has failed."""
    tool(cx, checkpoint_abort=BAD[what])
    job = cx.submit("exec sleep 600", Rerunable="n")
    cx.api.run(job, "(n1:ncpus=1)")
    pid = int(running(cx, job)["session_id"])
    with pytest.raises(api.PbsError) as e:
        cx.api.hold(job)
    assert e.value.code == CKPSHORT and "runs on" in e.value.text
    lives_on(cx, job, pid)
    assert preempt(cx, job) == {job: "000"}
    lives_on(cx, job, pid)


@alone
def test_the_next_letter_is_tried_where_the_script_has_written_nothing(cx):
    tool(cx, checkpoint_abort="exit 0")
    job = cx.submit("exec sleep 600")
    cx.api.run(job, "(n1:ncpus=1)")
    running(cx, job)
    assert preempt(cx, job, "CR") == {job: "Q"}
    cx.wait_log("server", "there is no image")


@history
def test_a_save_from_before_the_request_does_not_count_as_a_checkpoint(cx):
    tool(cx, checkpoint_abort=f"[ ! -e {cx.work}/now ] || echo new > $PBS_CHECKPOINT_DIR/state")
    job = cx.submit(f"echo old > $PBS_CHECKPOINT_DIR/state; touch {cx.work}/saved; exec sleep 600")
    os.chmod(cx.work, 0o777)
    until(lambda: cx.file("saved") is not None, "its old state")
    running(cx, job)
    with pytest.raises(api.PbsError) as e:
        cx.api.hold(job)
    assert "PBS_CHECKPOINT_DIR" in e.value.text and cx.state(job) == "R"
    cx.blank("now")
    cx.api.hold(job)
    cx.wait(job, state="H")


@history
def test_a_checkpoint_that_was_due_and_failed_leaves_the_image_before_it(cx):
    configure(cx, "$min_check_poll 1", "$max_check_poll 1", "$wallmult 60")
    tool(cx, checkpoint=f"[ ! -e {cx.work}/bad ] || exit 0\n" + SAVE + f"; echo {cx.work} >> $3/core; touch {cx.work}/bad",
         restart=f"cat $3/core > {cx.work}/restarted; (while [ ! -e {cx.work}/stop ]; do sleep 0.05; done) & exit 0")
    job = cx.submit("exec sleep 600", Checkpoint="w=1")
    until(lambda: "checkpointed to" in cx.log("n1"), "the good one")
    until(lambda: "Checkpoint failed, error" in cx.log("n1"), "the bad one")
    assert cx.state(job) == "R"
    cx.api.rerun(job)
    until(lambda: cx.file("restarted"), "the restart")
    assert cx.file("restarted").splitlines()[1] == cx.work
    stop(cx)


@both
def test_a_host_whose_script_writes_nothing_fails_the_checkpoint_of_all(cx):
    both_hosts(cx, "[ $PBS_NODENUM = 1 ] && exit 0\nmkdir $3 && echo $PBS_SIDS > $3/core")
    dsh = os.path.join(cx.build, "bin", "pbsdsh")
    cx.blank("task")
    job = spread(cx, f"{dsh} -o -n 1 -- /bin/sh -c 'echo $$ > {cx.work}/task; exec sleep 600'\nexec sleep 600")
    task = int(until(lambda: (cx.file("task") or "").strip(), "the task"))
    with pytest.raises(api.PbsError) as e:
        cx.api.hold(job)
    assert "there is no image" in e.value.text
    assert cx.state(job) == "R" and is_alive(task) and is_alive(int(cx.stat(job)["session_id"]))
    until(lambda: not [f for n in ("n1", "n2") for f in os.listdir(os.path.dirname(image(cx, job, n))) if f.startswith("0")],
          "the end of the images")


@history
@as_root
def test_an_image_cut_off_by_a_full_disk_does_not_replace_the_one_before_it(cx):
    """The tool does not look at what its writes return."""
    with small_disk(cx, "8m") as path:
        tool(cx, checkpoint_abort="mkdir $3; n=1; [ -e $3/../full ] && n=64; dd if=/dev/zero of=$3/core bs=1M count=$n; exit 0",
             restart="(sleep 600) & exit 0")
        job = cx.submit("exec sleep 600")
        running(cx, job)
        cx.api.hold(job)
        cx.wait(job, state="H")
        cx.api.release(job)
        running(cx, job)
        open(os.path.join(os.path.dirname(image(cx, job)), "full"), "w", encoding="ascii").close()
        with pytest.raises(api.PbsError) as e:
            cx.api.hold(job)
        assert "no room" in e.value.text or "No space" in e.value.text, e.value.text
        assert cx.state(job) == "R" and os.path.getsize(os.path.join(image(cx, job), "core")) == 1 << 20
        cx.api.delete(job)
        cx.wait_gone(job)


# --- images are what was written


@alone
def test_an_image_that_was_changed_is_not_restarted(cx):
    tool(cx, checkpoint_abort=SAVE, restart=f"touch {cx.work}/restarted; (sleep 600) & exit 0")
    job = cx.submit("exec sleep 600", Rerunable="n")
    cx.api.run(job, "(n1:ncpus=1)")
    running(cx, job)
    cx.api.hold(job)
    cx.wait(job, state="H")
    with open(os.path.join(image(cx, job), "core"), "a", encoding="ascii") as f:
        f.write("x")
    cx.api.release(job)
    cx.api.run_async(job, "(n1:ncpus=1)")
    s = cx.wait(job, state="H")
    assert "its checkpoint is lost" in s["comment"] and cx.file("restarted") is None
    cx.wait_log("n1", "is not what the checkpoint has written")
    until(lambda: not os.path.exists(image(cx, job)), "the host to remove the image that was given up")


# Its first image says so, and the next ones too.
IN_ORDER = 'mkdir $3; if [ -e ${3%.new} ]; then echo second; else echo first; fi > $3/core'


def run_and_hold(cx, job):
    cx.api.run(job, "(n1:ncpus=1)")
    running(cx, job)
    cx.api.hold(job)
    cx.wait(job, state="H")
    cx.api.release(job)


@alone
@pytest.mark.parametrize("damage", ["changed", "gone"])
def test_a_damaged_image_gives_way_to_the_one_before_it_and_the_job_says_so(cx, damage):
    tool(cx, checkpoint_abort=IN_ORDER, restart=f"cat $3/core >> {cx.work}/restarted; (sleep 600) & exit 0")
    job = cx.submit("exec sleep 600")
    core = os.path.join(image(cx, job), "core")
    for now in ("first", "second"):
        run_and_hold(cx, job)
        with open(core, encoding="ascii") as f:
            assert f.read() == now + "\n"
    if damage == "gone":
        shutil.rmtree(image(cx, job))
    else:
        with open(core, "a", encoding="ascii") as f:
            f.write("x")
        cx.api.run_async(job, "(n1:ncpus=1)")
        until(lambda: "the one before it is used" in cx.stat(job).get("comment", ""), "what the job says")
        cx.wait(job, state="Q")
    cx.api.run(job, "(n1:ncpus=1)")
    until(lambda: cx.file("restarted") == "first\nfirst\n", "the restart from the first image")
    running(cx, job)
    cx.wait_log("n1", "the one before it is used")


@alone
def test_a_restart_that_fails_twice_holds_the_job_and_says_why(cx):
    tool(cx, checkpoint_abort=SAVE, restart="exit 1")
    job = cx.submit("exec sleep 600")
    run_and_hold(cx, job)
    cx.api.run_async(job, "(n1:ncpus=1)")
    until(lambda: "restart of task 00000001" in cx.stat(job).get("comment", ""), "the first restart to fail")
    cx.wait(job, state="Q")
    run_and_hold(cx, job)
    cx.api.run_async(job, "(n1:ncpus=1)")
    s = cx.wait(job, state="H")
    assert "its restart has failed twice (restart of task 00000001" in s["comment"] and "s" in s["Hold_Types"]
    until(lambda: not os.path.exists(image(cx, job)), "the host to remove the image that was given up")
    cx.api.release(job, "s")
    cx.api.run(job, "(n1:ncpus=1)")
    running(cx, job)


@history
@as_root
def test_an_image_belongs_to_root_and_no_other_account_reaches_it(cx):
    tool(cx, checkpoint_abort=SAVE + "; chmod -R 777 $3; chown -R $4 $3")
    job = cx.submit("exec sleep 600")
    running(cx, job)
    cx.api.hold(job)
    cx.wait(job, state="H")
    st = os.stat(image(cx, job))
    assert (st.st_uid, st.st_mode & 0o7777) == (0, 0o700)
    owner = pwd.getpwnam(users.NAMES[0])
    done = subprocess.run(["setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups", "sh", "-c",
                           f"echo evil > {image(cx, job)}/core"], check=False, capture_output=True)
    assert done.returncode != 0


# --- CRIU, which runs as root in a directory where the job would like to be

# A replacement of CRIU. A dump gives the job time to do its worst before it opens its files, by name, as CRIU does.
CRIU = """#!/bin/sh
verb=$1; while [ $# -gt 0 ]; do case $1 in -t) tree=$2;; -D) dir=$2;; -W) logs=$2;; esac; shift; done
case $verb in
dump)
    echo $$ $tree > {work}/dumping.new; mv {work}/dumping.new {work}/dumping
    n=0; until [ -e {work}/tried ] || [ $n = 600 ]; do sleep 0.02; n=$((n + 1)); done
    echo "log of a dump" > $dir/dump.log; echo "good image" > $dir/core;;
restore)
    echo "log of a restore" > ${{logs:-$dir}}/restore.log; cat $dir/core >> {work}/restored
    (while [ ! -e {work}/stop ]; do sleep 0.05; done) & ;;
esac
"""

# What the job tries while it is dumped: links where the tool's files were, by path and through the tool's own process;
# `reached` says what it has got.
ATTACK = """
place=${{PBS_CHECKPOINT_DIR%/app}}/00000001.new
until [ -e {work}/dumping ]; do sleep 0.02; done
read pid session < {work}/dumping
ln -sfn {work}/victim $place/$session/dump.log && echo path >> {work}/reached
ln -sfn {work}/victim /proc/$pid/cwd/dump.log && echo cwd >> {work}/reached
ls $place/$session > {work}/list && echo list >> {work}/reached
touch {work}/tried
exec sleep 600
"""

# And what any process of the owner tries while the job is held.
EDIT = """
cd {image} && echo in
for f in {image}/*/core; do echo evil > $f && echo written; mv $f $f.old && echo evil > $f && echo replaced; done
"""


def as_user(name, text):
    who = pwd.getpwnam(name)
    return subprocess.run(["setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups", "sh", "-c", text],
                          check=False, capture_output=True, text=True).stdout.split()


def can_lend_capabilities():
    """May a process of another account get what CRIU needs there?"""
    caps = "+checkpoint_restore,+setpcap"
    return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps", caps, "--ambient-caps",
                           caps, "true"], check=False, capture_output=True).returncode == 0


def criu_in_path(cx, runs_as):
    path = os.path.join(cx.work, "bin")
    os.mkdir(path)
    with open(os.path.join(path, "criu"), "w", encoding="ascii") as f:
        f.write(CRIU.format(work=cx.work))
    os.chmod(os.path.join(path, "criu"), 0o755)
    shipped = os.path.join(cx.build, "libexec", "ckpt-criu")
    name = script(cx, "criu", f"PATH={path}:$PATH CKPT_CRIU_AS={runs_as} exec {shipped} \"$@\"")
    configure(cx, *[f"$action {event} 60 !{name} {verb} %path" for event, verb in
                    (("checkpoint", "dump"), ("checkpoint_abort", "dump"), ("restart", "restore"))])


@history
@as_root
@pytest.mark.parametrize("runs_as", ["root", "owner"])
def test_criu_writes_no_link_of_the_job_and_restores_no_image_that_the_owner_has_changed(cx, runs_as):
    if runs_as == "owner" and not can_lend_capabilities():
        pytest.skip("no capabilities can be lent to another account here")
    criu_in_path(cx, runs_as)
    os.chmod(cx.work, 0o777)
    with open(os.path.join(cx.work, "victim"), "w", encoding="ascii") as f:
        f.write("mine\n")
    job = cx.submit(ATTACK.format(work=cx.work))
    running(cx, job)
    cx.api.hold(job)
    cx.wait(job, state="H")
    assert cx.file("victim") == "mine\n" and cx.file("tried") is not None and cx.file("reached") is None
    assert not as_user(users.NAMES[0], EDIT.format(image=image(cx, job)))
    for turn in (1, 2):  # what a restore writes leaves the image as it was
        cx.api.release(job) if turn == 1 else cx.api.rerun(job)
        until(lambda n=turn: (cx.file("restored") or "").count("good image") == n, "the restore")
        running(cx, job)
    stop(cx)
    cx.wait_gone(job)
    assert cx.file("restored") == "good image\n" * 2


# --- what is left where a job was requeued
SCATTER = {"select": "2:ncpus=1", "l_place": "scatter"}
HERE, THERE = "(n1:ncpus=1)", "(n2:ncpus=1)"
# Its state comes to be with its first run, on each host that runs something of it.
WRITER = """mark='echo state > $PBS_CHECKPOINT_DIR/state; echo > {work}/wrote.$PBS_NODENUM'
{dsh} -- /bin/sh -c "$mark"
sleep 600
"""
moved = pytest.mark.complex(nodes=2, history=True, sched=False)


def kept(cx, job, node):
    """What this host keeps of the job's checkpoints; None: nothing at all, not even a directory."""
    top = os.path.join(cx.dir, "mom", node, "checkpoint", f"{job}.CK")
    return sorted(f for _, _, files in os.walk(top) for f in files) if os.path.isdir(top) else None


def writer(cx, where, **attrs):
    """A job that has written its state on each of its hosts."""
    text = WRITER.format(work=cx.work, dsh=os.path.join(cx.build, "bin", "pbsdsh"))
    job = cx.submit(text, **attrs)
    cx.api.run(job, where)
    for host in range(where.count("(")):
        until(lambda host=host: os.path.exists(os.path.join(cx.work, f"wrote.{host}")), f"the state on host {host}")
    return job


@moved
def test_a_host_on_which_a_requeued_job_has_written_nothing_keeps_nothing(cx):
    job = cx.submit("sleep 600", **SCATTER)
    cx.api.run(job, HERE + "+" + THERE)
    running(cx, job)
    assert kept(cx, job, "n1") == kept(cx, job, "n2") == []
    cx.api.rerun(job)
    cx.wait(job, "Q")
    until(lambda: kept(cx, job, "n1") is kept(cx, job, "n2") is None, "the end of its directories")


@moved
def test_what_a_requeued_job_has_written_on_its_hosts_stays_until_it_is_over_elsewhere(cx):
    job = writer(cx, HERE + "+" + THERE, **SCATTER)
    cx.api.rerun(job)
    cx.wait(job, "Q")
    cx.command("qalter", "-l", "select=1:ncpus=1", job)
    cx.crash_server()
    cx.hosts_back()
    assert kept(cx, job, "n1") == kept(cx, job, "n2") == ["state"]
    cx.api.run(job, HERE)
    running(cx, job)
    cx.api.delete(job)
    cx.wait_gone(job)
    until(lambda: kept(cx, job, "n1") is kept(cx, job, "n2") is None, "the end of its directories")


@moved
def test_what_a_requeued_job_has_written_goes_when_it_is_deleted_while_it_waits(cx):
    job = writer(cx, HERE + "+" + THERE, **SCATTER)
    cx.api.rerun(job)
    cx.wait(job, "Q")
    cx.api.delete(job)
    cx.wait_gone(job)
    until(lambda: kept(cx, job, "n1") is kept(cx, job, "n2") is None, "the end of its directories")


@moved
def test_a_host_of_an_earlier_run_keeps_nothing_when_the_job_is_over(cx):
    job = writer(cx, HERE)
    for where in (THERE, THERE):
        cx.api.rerun(job)
        cx.wait(job, "Q")
        cx.api.run(job, where)
        running(cx, job)
    assert kept(cx, job, "n1") == ["state"]
    cx.api.delete(job)
    cx.wait_gone(job)
    until(lambda: kept(cx, job, "n1") is kept(cx, job, "n2") is None, "the end of its directories")
