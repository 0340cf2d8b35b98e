"""Programs of a site: what hosts have, a configuration as a whole, wrapped mpiruns, and names of PBS whose work something else does."""
import os
import shutil

import pytest

from harness.wait import until


def add(path, text):
    with open(path, "a", encoding="ascii") as f:
        f.write(text)


# --- sockets and processors

def test_sockets_and_processors_are_those_that_the_mom_has_seen(cx, monkeypatch):
    """The hardware is hwloc's pretence."""
    monkeypatch.setenv("HWLOC_SYNTHETIC", "package:2 core:2 pu:2")
    cx.restart("n1")
    until(lambda: cx.command("pbs_topologyinfo", "-as", check=False).stdout == "n1 2\n", "what the MOM has seen")
    assert cx.command("pbs_topologyinfo", "-p", "n1").stdout == "n1 8\n"
    assert cx.command("pbs_topologyinfo", "-p", "-s", "n1").stdout == "n1 2 8\n"
    assert "topology" not in cx.command("pbsnodes", "-v", "n1").stdout
    done = cx.command("pbs_topologyinfo", "n1", "n9", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "n1 2\n", "pbs_topologyinfo: n9: Unknown node\n")
    assert cx.command("pbs_topologyinfo", "-s", check=False).returncode == 1


@pytest.mark.complex(nodes=0, sched=False)
def test_a_host_that_has_not_reported_is_said(cx):
    cx.qmgr("create node far1")
    done = cx.command("pbs_topologyinfo", "far1", check=False)
    assert (done.returncode, done.stdout) == (1, "") and "far1: its MOM has not reported" in done.stderr
    assert cx.command("pbs_topologyinfo", "-a").stdout == ""


# --- the configuration

@pytest.mark.parametrize("name, line, said", [
    ("sched_config", "fair_share: maybe", 'fair_share: "maybe" is neither True nor False'),
    ("resource_group", "group1 word root 5", "error on line"), ("dedicated_time", "12/12/2026 99", "Error on line 1")])
def test_an_error_in_a_file_of_the_scheduler_is_reported_before_it_reads_the_file(cx, name, line, said):
    assert cx.command("pbs_config", "--validate").stdout == "pbs_config: nothing is wrong\n"
    path = os.path.join(cx.home, "sched_priv", name)
    if name == "dedicated_time":
        os.replace(path, path + ".was")
    add(path, f"\n{line}\n" if name != "dedicated_time" else line + "\n")
    done = cx.command("pbs_config", "--validate", check=False)
    assert done.returncode == 1 and path in done.stderr and said in done.stderr, done.stderr


def test_an_error_in_a_file_of_the_mom_is_reported_before_it_reads_the_file(cx):
    env = {"PBS_CONF_FILE": os.path.join(cx.dir, "mom", "n1", "pbs.conf")}
    priv = os.path.join(cx.dir, "mom", "n1", "mom_priv")
    assert cx.command("pbs_mom", "--check", env=env).stderr == ""
    add(os.path.join(priv, "config.d", "mine"), "$configversion 2\nn1[0]: colour = red\n")
    done = cx.command("pbs_config", "--validate", check=False, env=env)
    assert done.returncode == 1 and '"colour" is not an attribute of a vnode' in done.stderr
    os.unlink(os.path.join(priv, "config.d", "mine"))
    add(os.path.join(priv, "config"), "$no_such_directive 1\n")
    done = cx.command("pbs_config", "--validate", check=False, env=env)
    assert done.returncode == 1 and "$no_such_directive" in done.stderr
    assert cx.pid("n1")


def test_a_configuration_is_saved_compared_and_put_back(cx):
    saved, wrong = os.path.join(cx.work, "site"), os.path.join(cx.work, "wrong")
    cx.qmgr("create queue night queue_type=e,Priority=7", "set server comment = 'as it was'")
    cx.command("pbs_config", "--save", saved)
    assert cx.command("pbs_config", "--compare", saved).stdout == ""
    cx.qmgr("set queue night Priority=9", "set server comment = other")
    done = cx.command("pbs_config", "--compare", saved, check=False)
    assert done.returncode == 1 and "Priority = 7" in done.stdout and "as it was" in done.stdout
    cx.command("pbs_config", "--load", saved)
    assert cx.api.stat("que", "night")[0]["Priority"] == "7" and cx.api.stat("server")[0]["comment"] == "as it was"
    add(wrong, "set queue night Priority=3\nset queue night colour=red\n")
    for verb in ("--validate", "--load"):
        done = cx.command("pbs_config", verb, wrong, check=False)
        assert done.returncode and f"{wrong}:2: Undefined attribute  colour" in done.stderr
    assert cx.api.stat("que", "night")[0]["Priority"] == "7"
    assert cx.command("pbs_config", "--compare", check=False).returncode == 2


# --- mpirun

@pytest.fixture
def tools(quiet, tmp_path):
    """An installation of its own, where a wrapping may leave something, and an mpirun that says how it was called."""
    tmp_path.chmod(0o755)
    there = tmp_path / "exec" / "bin"
    there.mkdir(parents=True)
    for name in ("pbsrun", "pbsrun_wrap", "pbsrun_unwrap", "pbs_mpirun", "pbs_tmrsh", "mpiexec"):
        shutil.copy(os.path.join(quiet.build, "bin", name), there / name)
    mpi = tmp_path / "mpi"
    mpi.mkdir()
    for name in ("mpirun", "mpiexec"):
        (mpi / name).write_text('#!/bin/sh\necho "$0 $HYDRA_LAUNCHER_EXEC $PBS_MPIRUN $*"\nexit 7\n')
        (mpi / name).chmod(0o755)
    return there, mpi


def in_a_job(cx):
    nodes = os.path.join(cx.work, "nodes")
    add(nodes, "n1\n")
    return {"PBS_JOBID": "1.svr", "PBS_NODEFILE": nodes}


def test_a_wrapped_mpirun_runs_in_the_job_and_elsewhere_as_before_until_it_is_unwrapped(quiet, tools):
    there, mpi = tools
    mpirun, key = mpi / "mpirun", there / "pbsrun.mine"
    was = mpirun.read_text()
    quiet.command(there / "pbsrun_wrap", mpirun, "pbsrun.mine")
    assert mpirun.is_symlink() and (mpi / "mpirun.actual").read_text() == was
    for program in (mpirun, key):
        done = quiet.command(program, "-n", "2", "a b", check=False)
        assert (done.returncode, done.stdout) == (7, f"{mpirun}.actual   -n 2 a b\n"), done.stderr
        done = quiet.command(program, "x", check=False, env=in_a_job(quiet))
        assert (done.returncode, done.stdout) == (7, f"{mpirun}.actual {there}/pbs_tmrsh  x\n"), done.stderr
    again = quiet.command(there / "pbsrun_wrap", mpirun, "pbsrun.other", check=False)
    assert again.returncode == 1 and "wrapped already" in again.stderr
    quiet.command(there / "pbsrun_unwrap", "pbsrun.mine")
    assert not mpirun.is_symlink() and mpirun.read_text() == was
    assert not key.exists() and set(os.listdir(mpi)) == {"mpirun", "mpiexec"}
    again = quiet.command(there / "pbsrun_unwrap", "pbsrun.mine", check=False)
    assert again.returncode == 1 and "wraps nothing" in again.stderr


def test_a_strictly_wrapped_mpirun_does_nothing_outside_a_job(quiet, tools):
    there, mpi = tools
    quiet.command(there / "pbsrun_wrap", "-s", mpi / "mpirun", "pbsrun.mine")
    done = quiet.command(mpi / "mpirun", "x", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "mpirun: not executing under PBS\n")
    assert quiet.command(mpi / "mpirun", "x", check=False, env=in_a_job(quiet)).returncode == 7


def test_a_program_that_cannot_be_wrapped_is_left_alone(quiet, tools):
    there, mpi = tools
    for words, status in (((mpi / "nothing", "pbsrun.k"), 1), (("mpirun", "pbsrun.k"), 1), ((mpi / "mpirun", "k"), 2), ((), 2)):
        assert quiet.command(there / "pbsrun_wrap", *words, check=False).returncode == status
    assert set(os.listdir(mpi)) == {"mpirun", "mpiexec"} and not (there / "pbsrun.k").exists()


def test_mpiexec_is_the_next_one_of_the_path_in_the_job(quiet, tools):
    there, mpi = tools
    path = {"PATH": f"{there}:{mpi}:/usr/bin:/bin"}
    done = quiet.command(there / "mpiexec", "x", check=False, env={**path, **in_a_job(quiet)})
    assert (done.returncode, done.stdout) == (7, f"{mpi}/mpiexec {there}/pbs_tmrsh  x\n")
    done = quiet.command("/bin/sh", there / "mpiexec", "x", check=False, env={"PATH": f"{there}"})
    assert done.returncode == 1


# --- names of PBS

@pytest.mark.parametrize("name", ["pbs_login", "pbs_iff", "pbs_demux", "pbs_interactive", "pbs_lamboot", "pbs_mpihp",
                                  "pbs_mpilam", "pbs_tclsh", "pbs_wish"])
def test_a_program_that_is_not_needed_says_what_does_its_work(quiet, name):
    done = quiet.command(name, "x", check=False)
    assert (done.returncode, done.stdout) == (69, "") and done.stderr.startswith(f"{name}: ") and done.stderr.count("\n") == 1
    assert quiet.command(name, "--version").stdout == quiet.command("qstat", "--version").stdout


def test_pbs_iff_tries_a_server(quiet):
    host, port = quiet.command("sh", "-c", '. "$PBS_CONF_FILE"; echo "${PBS_SERVER%:*}" "$PBS_BATCH_SERVICE_PORT"').stdout.split()
    assert "Active" in quiet.command("pbs_iff", "-t", host, port).stdout
    assert quiet.command("pbs_iff", "-t", host, "1", check=False).returncode != 0


def test_pbs_rcp_copies_here_by_cp_and_elsewhere_by_the_program_of_pbs_conf(quiet):
    one, two = os.path.join(quiet.work, "one:x"), os.path.join(quiet.work, "two")
    add(one, "words")
    quiet.command("pbs_rcp", one, f"localhost:{two}")
    assert quiet.file("two") == "words"
    done = quiet.command("pbs_rcp", "-r", f"me@far:{one}", two, env={"PBS_SCP": "echo", "PBS_SCP_ARGS": "-B"})
    assert done.stdout.split() == ["-B", f"me@far:{one}", two]
    assert quiet.command("pbs_rcp", one, check=False).returncode == 1
    assert quiet.command("pbs_rcp", one + "none", two, check=False).returncode == 1
