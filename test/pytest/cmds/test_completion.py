"""Completion in bash: what the shell offers for a command line of PBS."""
import os

import pytest

TEXT = """
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_pbs "$1"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def offered(cx, *words):
    script = os.path.join(cx.build, "etc", "pbs_completion.bash")
    return cx.command("bash", "-c", TEXT, "bash", script, *words).stdout.split()


def test_options_are_those_of_the_command(quiet):
    assert {"-l", "-N", "-W"} <= set(offered(quiet, "qsub", "-"))
    assert {"-f", "-x"} <= set(offered(quiet, "qstat", "-"))


@pytest.mark.parametrize("words, found", [(("qsub", "-q", ""), "workq"), (("qstop", "wo"), "workq"),
                                          (("qsub", "-j", "o"), "oe"), (("qsub", "-l", "wallt"), "walltime="),
                                          (("qsub", "-W", "dep"), "depend="), (("qstat", "-F", "j"), "json"),
                                          (("qmove", "w"), "workq"), (("tracejob", "-f", "job_"), "job_usage"), (("qsig", "-s", "susp"), "suspend"),
                                          (("qsig", "-s", "SIGUSR1"), "SIGUSR1"),
                                          (("qsub", "-l", "select", "=", "1", ":", "ncpus", "=", "2", ":", "mpip"), "mpiprocs="),
                                          (("qsub", "-l", "place", "=", "sc"), "scatter"),
                                          (("qsub", "-l", "place", "=", "pack", ":", "exclh"), "exclhost"),
                                          (("pbs_complex", "add"), "add-node"), (("pbs_store", "mig"), "migrate"), (("pbs_keys", "rev"), "revoke"), (("pbs_web", "tok"), "token"), (("pbs_web", "token", "rev"), "revoke")])
def test_values_and_operands_are_offered(quiet, words, found):
    assert offered(quiet, *words) == [found]


def test_behind_a_colon_all_resources_of_a_chunk_are_offered(quiet):
    assert {"ncpus=", "mem="} <= set(offered(quiet, "qsub", "-l", "select", "=", "2", ":"))


@pytest.mark.complex(nodes=1, sched=False)
def test_jobs_are_ones_own_and_fit_the_command(cx):
    waiting, held = cx.submit(), cx.submit(Hold_Types="u")
    assert offered(cx, "qdel", "") == [waiting, held]
    assert offered(cx, "qrls", "") == [held]
    assert offered(cx, "qmove", "workq", "") == [waiting, held]
    assert offered(cx, "pbsnodes", "n") == offered(cx, "qrun", "-H", "n") == ["n1"]


@pytest.mark.complex(nodes=1, sched=False)
def test_reservations_and_what_they_are_made_of_are_offered(cx):
    resv = cx.command("pbs_rsub", "-R", "2359", "-D", "60", "-l", "ncpus=1").stdout.split()[0]
    for command in ("pbs_rdel", "pbs_ralter", "pbs_rstat"):
        assert offered(cx, command, "R") == [resv]
    assert offered(cx, "pbs_rstat", "-F", "j") == ["json"] and offered(cx, "pbs_ralter", "-W", "") == ["force"]
    assert offered(cx, "pbs_rsub", "--hosts", "") == ["n1"] and offered(cx, "pbs_rsub", "-W", "qm") == ["qmove="]
    job = cx.submit("sleep 600", select="1:ncpus=1")
    cx.api.run(job, "(n1:ncpus=1)")
    cx.wait(job, "R")
    assert offered(cx, "pbs_rsub", "--job", "") == [job]


def test_a_script_is_a_file(quiet):
    with open(os.path.join(quiet.work, "a_script.sh"), "w", encoding="ascii"):
        pass
    assert offered(quiet, "qsub", "a_scr") == ["a_script.sh"]


def test_entities_of_the_shares_are_offered(quiet):
    assert offered(quiet, "pbsfs", "-g", "unkn") == ["unknown"]
    assert {"-p", "-t", "-I"} <= set(offered(quiet, "pbsfs", "-"))
