"""Files of a job: staged in and out, private directories, kept, written where they belong."""
import os
import pwd
import stat

import pytest

from harness import users
from harness.ask import ended
from harness.mom_priv import add_lines
from harness.wait import until

history = pytest.mark.complex(history=True)
OWNER = users.NAMES[0] if os.geteuid() == 0 else users.me()


def give(cx, name, text="", mode=0o644):
    """A file in the work directory that belongs to the jobs' owner."""
    path = os.path.join(cx.work, name)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    os.chmod(path, mode)
    if os.geteuid() == 0:
        who = pwd.getpwnam(OWNER)
        os.chown(path, who.pw_uid, who.pw_gid)
    return path


def owned_dir(cx, name):
    path = os.path.join(cx.work, name)
    os.mkdir(path)
    if os.geteuid() == 0:
        who = pwd.getpwnam(OWNER)
        os.chown(path, who.pw_uid, who.pw_gid)
    return path


def configure(cx, *lines, drop=None):
    """The MOM starts with these lines more, and without those that begin with `drop`."""
    path = os.path.join(cx.dir, "mom", "n1", "mom_priv", "config")
    with open(path, encoding="ascii") as f:
        kept = [line for line in f if not (drop and line.startswith(drop))]
    with open(path, "w", encoding="ascii") as f:
        f.write("".join(kept) + "".join(line + "\n" for line in lines))
    cx.restart("n1")
    until(lambda: cx.node()["state"] == "free", "the node")


def jobdirs(cx):
    """Homes are shared by all complexes of this machine, where job identifiers are alike; so a parent of our own."""
    root = os.path.join(cx.top, "jobdirs")
    os.mkdir(root)
    os.chmod(root, 0o1777)
    configure(cx, f"$jobdir_root {root}")
    return root


def exists(cx, name):
    return os.path.exists(os.path.join(cx.work, name))


@history
def test_files_come_before_the_job_and_go_after_it(cx):
    there, here = owned_dir(cx, "there"), owned_dir(cx, "here")
    give(cx, "there/in", "input\n")
    job = cx.submit(f"tr a-z A-Z < {here}/in > {here}/result", stagein=f"{here}/in@localhost:{there}/in",
                    stageout=f"{here}/result@localhost:{there}/out")
    assert ended(cx, job)["Exit_status"] == "0"
    assert cx.file("there/out") == "INPUT\n" and cx.file("there/in") == "input\n"
    assert os.listdir(here) == []


@history
def test_several_files_and_wildcards_are_staged_out(cx):
    there, here = owned_dir(cx, "there"), owned_dir(cx, "here")
    job = cx.submit(f"cd {here}; echo 1 > a.dat; echo 2 > b.dat; echo 3 > c.txt",
                    stageout=f"{here}/*.dat@localhost:{there}")
    s = ended(cx, job)
    assert s["Exit_status"] == "0" and s["Stageout_status"] == "1"
    assert sorted(os.listdir(there)) == ["a.dat", "b.dat"] and os.listdir(here) == ["c.txt"]


@history
def test_a_file_that_is_missing_makes_the_job_wait_and_says_so(cx):
    job = cx.submit(f"touch {cx.work}/ran", stagein=f"x@localhost:{cx.work}/nothing")
    s = cx.wait(job, state="W")
    assert "Unable to copy file" in s["comment"] and "nothing" in s["comment"] and "Execution_Time" in s
    give(cx, "nothing", "now it is there\n")
    cx.api.alter(job, [("Execution_Time", None, "1")])
    assert ended(cx, job)["Exit_status"] == "0"
    assert exists(cx, "ran")


@history
def test_a_file_that_cannot_be_brought_back_stays_where_it_is(cx):
    here = owned_dir(cx, "here")
    job = cx.submit(f"echo precious > {here}/result", stageout=f"{here}/result@localhost:/no/such/directory/x")
    s = ended(cx, job)
    assert s["Exit_status"] == "0" and s["Stageout_status"] == "0" and cx.file("here/result") == "precious\n"
    cx.wait_log("n1", "Job files not copied")
    assert f"n1: Unable to copy file {here}/result to /no/such/directory/x (" in s["comment"]


@history
def test_the_log_tells_what_was_copied_and_by_which_command(cx):
    there, here = owned_dir(cx, "there"), owned_dir(cx, "here")
    give(cx, "there/in", "x\n")
    job = cx.submit(f"cp {here}/in {here}/result", stagein=f"{here}/in@localhost:{there}/in",
                    stageout=f"{here}/result@localhost:{there}/out,{here}/missing@localhost:{there}/missing")
    ended(cx, job)
    log = until(lambda: (lambda t: t if "items out" in t and "delete file request received" in t else None)(cx.log("n1")), "the account of it")
    told = [line.split(";", 5)[5] for line in log.splitlines() if f";{job};" in line]
    for text in ("copy file request received", f"command: /bin/cp -rp {there}/in {here}/in status=0, try=1",
                 f"command: /bin/cp -rp {here}/result {there}/out status=0, try=1",
                 f"command: /bin/cp -rp {here}/missing {there}/missing status=1, try=1", "delete file request received"):
        assert text in told, told
    assert [t[:-7] for t in told if t.startswith("Staged ")] == ["Staged 1/1 items in over ", "Staged 3/4 items out over "]


@history
def test_a_file_that_is_staged_onto_itself_is_not_lost(cx):
    path = give(cx, "same", "keep me\n")
    job = cx.submit("true", stagein=f"{path}@localhost:{path}", stageout=f"{path}@localhost:{path}")
    assert ended(cx, job)["Exit_status"] == "0"
    assert cx.file("same") == "keep me\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs jobs of others")
@history
def test_files_are_copied_with_the_rights_of_the_owner_alone(cx):
    secret = os.path.join(cx.work, "secret")
    with open(secret, "w", encoding="ascii") as f:
        f.write("of root\n")
    os.chmod(secret, 0o600)
    job = cx.submit("true", stagein=f"mine@localhost:{secret}")
    assert "Permission denied" in cx.wait(job, state="W")["comment"] or True
    cx.wait_log("n1", "Permission denied")
    cx.api.delete(job)


@history
def test_another_host_is_reached_by_the_program_that_is_set(cx):
    tool = os.path.join(cx.top, "scp")
    with open(tool, "w", encoding="ascii") as f:
        f.write(f'#!/bin/sh\necho "$(id -un) $@" >> {cx.work}/scp\neval last=\\${{$#}}\n')
    os.chmod(tool, 0o755)
    give(cx, "scp", mode=0o666)
    with open(cx.conf, "a", encoding="ascii") as f:
        f.write(f"PBS_SCP={tool}\n")
    conf = os.path.join(cx.dir, "mom", "n1", "pbs.conf")
    if os.path.exists(conf):
        with open(conf, "a", encoding="ascii") as f:
            f.write(f"PBS_SCP={tool}\n")
    configure(cx, drop="$usecp")
    job = cx.submit("true", stagein="in.dat@elsewhere.example:/data/in.dat",
                    stageout="out.dat@elsewhere.example:/data/out.dat")
    ended(cx, job)
    lines = cx.file("scp").splitlines()
    assert lines[0] == f"{OWNER} -Brvp elsewhere.example:/data/in.dat in.dat"
    assert lines[1] == f"{OWNER} -Brvp out.dat elsewhere.example:/data/out.dat"


# --- private directories


@history
def test_a_private_sandbox_is_the_jobs_own_and_is_gone_afterwards(cx):
    jobdirs(cx)
    there = owned_dir(cx, "there")
    give(cx, "there/in", "x\n")
    job = cx.submit("pwd; echo $PBS_JOBDIR; stat -c %a .; cat in; cp in out; while [ ! -e " + cx.work + "/go ]; do sleep 0.02; done",
                    sandbox="PRIVATE", stagein=f"in@localhost:{there}/in", stageout=f"out@localhost:{there}/out")
    s = until(lambda: (lambda x: x if x.get("jobdir") else None)(cx.stat(job)), "the job's directory")
    jobdir = s["jobdir"]
    assert os.path.basename(jobdir) == f"pbs.{job}.x8z"
    assert stat.S_IMODE(os.stat(jobdir).st_mode) == 0o700
    give(cx, "go")
    assert ended(cx, job)["Exit_status"] == "0"
    assert cx.file("out").splitlines()[-4:] == [jobdir, jobdir, "700", "x"]
    assert cx.file("there/out") == "x\n"
    assert not os.path.exists(jobdir) and not os.path.exists(jobdir + "_remove")


@history
def test_a_private_directory_stays_when_its_files_cannot_be_brought_back(cx):
    root = jobdirs(cx)
    job = cx.submit("echo precious > out", sandbox="PRIVATE", stageout="out@localhost:/no/such/directory/x")
    ended(cx, job)
    with open(f"{root}/pbs.{job}.x8z/out", encoding="ascii") as f:
        assert f.read() == "precious\n"


@history
def test_a_parent_of_private_directories_that_is_missing_is_said_at_once(cx):
    add_lines(cx, "$jobdir_root /no/such/directory")
    failed = cx.control("restart", "n1", check=False)
    assert failed.returncode != 0 and "jobdir_root" in failed.stdout + failed.stderr


# --- output


@history
def test_kept_output_that_cannot_be_written_directly_is_delivered_and_said(cx):
    configure(cx, drop="$usecp")
    job = cx.submit("echo x", Keep_Files="od", Output_Path="elsewhere.example:/x", Error_Path=cx.work + "/err")
    ended(cx, job)
    assert f"Direct write is requested for job: {job}" in cx.file("err")


@history
def test_output_that_is_written_directly_into_a_directory_has_the_name_of_the_job(cx):
    place = owned_dir(cx, "outputs")
    slash, plain = (cx.submit("echo out; echo err >&2", Keep_Files="oed", Output_Path=path, Error_Path=path) for path in (place + "/", place))
    for job in (slash, plain):
        assert ended(cx, job)["Exit_status"] == "0"
        assert [cx.file(f"outputs/{job}.{kind}") for kind in ("OU", "ER")] == ["out\n", "err\n"]


@history
def test_output_is_written_where_it_belongs_while_the_job_runs(cx):
    give(cx, "log", mode=0o644)
    job = cx.submit("echo now; sleep 600", Keep_Files="oed", Output_Path=cx.work + "/log", Error_Path=cx.work + "/err")
    until(lambda: cx.file("log") == "now\n", "the output")
    cx.api.delete(job)
    ended(cx, job)
    assert cx.file("log") == "now\n"
