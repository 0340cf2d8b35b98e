"""pbs_eff: what jobs have used of what they asked for."""
import json

import pytest

from harness.wait import until

pytestmark = pytest.mark.complex(nodes=1, ncpus=4, history=True)
BUSY = "end=$(( $(date +%s) + 3 )); while [ $(date +%s) -lt $end ]; do :; done"


def shown(cx, *jobs):
    return json.loads(cx.command("pbs_eff", "-F", "json", *jobs).stdout)["jobs"]


def seconds(text):
    hours, minutes, rest = text.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + int(rest)


def test_a_job_of_the_history_is_shown_with_what_accounting_says_of_it(cx):
    job = cx.submit(BUSY + "; exit 3", select="1:ncpus=2:mem=512mb", l_walltime="60")
    s = cx.wait(job, state="F")
    used, one = s["resources_used"], shown(cx, job)[job]
    cput, walltime = seconds(used["cput"]), seconds(used["walltime"])
    assert one["state"] == "F" and one["exit_status"] == 3
    assert one["time"] == {"used_s": walltime, "asked_s": 60, "percent": round(walltime * 100 / 60)}
    assert one["memory"]["asked_kb"] == 512 * 1024 and one["memory"]["used_kb"] == int(used["mem"].removesuffix("kb"))
    assert one["cpus"]["asked"] == 2 and one["cpus"]["used_cput_s"] == cput
    assert abs(one["cpus"]["percent"] - cput * 50 / walltime) <= 0.5 and abs(one["cpus"]["used"] - cput / walltime) < 0.01


def test_the_table_has_a_line_for_each_job_and_a_dash_for_what_is_not_known(cx):
    runs, waits = cx.submit(select="1:ncpus=1"), cx.submit(Hold_Types="u", l_walltime="1:30:00")
    cx.wait(runs)
    head, rule, first, second = cx.command("pbs_eff", runs, waits).stdout.splitlines()
    assert head.split() == ["Job", "ID", "S", "CPUs", "used", "asked", "%", "Mem", "used", "asked", "%", "Time", "used", "asked", "%"]
    assert set(rule) == {"-", " "} and len({len(line) for line in (head, rule, first, second)}) == 1
    assert first.split()[:2] == [runs, "R"] and first.split()[3] == "1" and first.split()[-2:] == ["-", "-"]
    assert second.split() == [waits, "H", "-", "1", "-", "-", "-", "-", "-", "01:30:00", "-"]


def test_of_an_array_each_subjob_is_shown(cx):
    array = cx.submit("true", array_indices_submitted="1-3")
    cx.wait(array, state="F")
    subjobs = [array.replace("[]", f"[{i}]") for i in (1, 2, 3)]
    assert sorted(shown(cx, array)) == subjobs
    assert sorted(shown(cx, array.replace("[]", "[1-2]"))) == subjobs[:2]
    assert list(shown(cx, subjobs[2])) == subjobs[2:]
    until(lambda: all(j["state"] in "XF" for j in shown(cx, array).values()), "the states")


def test_errors_are_those_of_other_commands(shared):
    unknown = shared.command("pbs_eff", "999999", check=False)
    assert unknown.returncode == 15001 % 256 and unknown.stderr.startswith("pbs_eff: Unknown Job Id 999999")
    bad = shared.command("pbs_eff", "no-job", check=False)
    assert (bad.returncode, bad.stderr) == (1, "pbs_eff: illegally formed job identifier: no-job\n")
    assert shared.command("pbs_eff", check=False).returncode == 2
    assert "illegal -F value" in shared.command("pbs_eff", "-F", "xml", "1", check=False).stderr
    job = shared.submit(Hold_Types="u")
    both = shared.command("pbs_eff", "-F", "json", "999999", job, check=False)
    assert both.returncode == 15001 % 256 and list(json.loads(both.stdout)["jobs"]) == [job]
