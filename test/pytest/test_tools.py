"""Tools beside the job commands: what they print, and how they end."""
import os
import pwd
import tarfile
import time

import pytest

from cede import users
from cede.wait import until

USER = (users.available() or [None])[0]


def test_printjob_shows_fields_attributes_and_the_script(shared):
    job = shared.submit("echo 'a script'", Hold_Types="u", Job_Name="seen")
    out = shared.command("printjob", job).stdout
    for line in (f"jobid:\t{job}", "state:\t\t0x2", "substate:\t0x14 (20)", f"file base:\t{job}", "queue:\t\tworkq",
                 "--attributes--", "Job_Name = seen", "Resource_List.ncpus = 1"):
        assert line in out.splitlines(), line
    assert "--attributes--" not in shared.command("printjob", "-a", job).stdout
    script = shared.command("printjob", "-s", job.split(".")[0]).stdout
    assert f"jobscript for {job.split('.')[0]}\n" in script and script.endswith("#!/bin/sh\necho 'a script'\n")
    missing = shared.command("printjob", "999999", check=False)
    assert (missing.returncode, missing.stderr) == (1, f"Job 999999.{job.split('.')[1]} not found\n")


def test_printjob_takes_a_file_of_the_mom_for_the_job(shared):
    job = shared.submit("sleep 600", Job_Name="filed")
    shared.wait(job)
    node = shared.stat(job)["exec_host"].split("/")[0]
    folder = os.path.join(shared.dir, "mom", node, "mom_priv", "jobs")
    names = until(lambda: [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith(job)],
                  "the folder of the job's run")
    for path in (names[0], os.path.join(names[0], f"{job}.SC"), f"/x/{job}.JB"):
        assert "Job_Name = filed" in shared.command("printjob", path).stdout.splitlines(), path


@pytest.mark.skipif(USER is None, reason="needs several users")
def test_a_script_is_its_owners_and_comes_whole_however_long_it_is(shared):
    text = "#!/bin/sh\n" + "".join(f": {i:060d}\n" for i in range(9000))  # two pieces and a rest
    job = shared.submit(text, user=USER, options=("-h",))
    assert shared.command("printjob", "-s", job, user=USER).stdout.endswith(text)
    refused = shared.command("printjob", "-s", job, user=users.NAMES[1], check=False)
    assert refused.returncode == 15007 % 256 and ":" not in refused.stdout.split("----\n")[-1]


def test_reservations_that_are_none_are_an_empty_list(shared):
    for option in ((), ("-f",), ("-F",), ("-B",), ("-S",)):
        done = shared.command("pbs_rstat", *option)
        assert (done.stdout, done.stderr) == ("", "")
    assert shared.command("pbs_rstat", "-x", check=False).returncode == 1


def test_pbs_sleep_sleeps(shared):
    begun = time.monotonic()
    shared.command("pbs_sleep", "1")
    assert time.monotonic() - begun >= 0.9
    assert shared.command("pbs_sleep", "soon", check=False).returncode == 1
    assert shared.command("pbs_sleep", check=False).returncode == 2


def test_pbs_account_says_that_it_is_for_another_system(shared):
    done = shared.command("pbs_account", "-s", "-a", "pbsadmin", check=False)
    assert done.returncode == 1 and "Windows" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_pbs_probe_finds_wrong_modes_and_mends_them(cx):
    shared = cx
    logs = os.path.join(shared.home, "server_logs")
    shared.command("pbs_probe", "-f", check=False)
    os.chmod(logs, 0o700)
    done = shared.command("pbs_probe", check=False)
    assert done.returncode == 1 and f"{logs}: its mode is 0700 and should be 0755" in done.stdout
    done = shared.command("pbs_probe", "-f", check=False)
    assert f"{logs}: its mode is 0700 and should be 0755, mended" in done.stdout
    assert os.stat(logs).st_mode & 0o7777 == 0o755
    os.chown(logs, pwd.getpwnam(users.NAMES[0]).pw_uid, -1)
    said = f"{logs}: its owner is {users.NAMES[0]} and should be root"
    done = shared.command("pbs_probe", check=False)
    assert done.returncode == 1 and said + "\n" in done.stdout
    assert f"{said}, mended\n" in shared.command("pbs_probe", "-f", check=False).stdout
    assert os.stat(logs).st_uid == 0
    assert f"{logs}: right" in shared.command("pbs_probe", "-v", check=False).stdout


def test_the_data_service_is_there_while_the_server_is(cx):
    assert cx.command("pbs_dataservice", "status").stdout == "PBS data service running locally\n"
    assert cx.command("pbs_dataservice", "stop", check=False).returncode == 1
    cx.stop_daemon("server")
    done = cx.command("pbs_dataservice", "status", check=False)
    assert (done.returncode, done.stdout) == (1, "PBS data service not running\n")
    assert cx.command("pbs_dataservice", check=False).returncode == 1


def test_a_snapshot_holds_answers_configuration_and_logs(shared):
    job = shared.submit(Hold_Types="u")
    where = os.path.join(shared.work, "snap")
    os.mkdir(where)
    out = shared.command("pbs_snapshot", "-o", where, "--daemon-logs=2", limit_s=180).stdout
    path = out.split(": ", 1)[1].strip()
    assert os.listdir(where) == [os.path.basename(path)]
    with tarfile.open(path) as tar:
        names = tar.getnames()
        top = names[0].split("/")[0]
        for name in ("server/qstat_Bf.out", "node/pbsnodes_va.out", "job/qstat_f_F_json.out", "pbs.conf",
                     "scheduler/qmgr_lsched.out", "reservation/pbs_rstat.out"):
            assert f"{top}/{name}" in names
        assert f"Job Id: {job}" in tar.extractfile(f"{top}/job/qstat_f.out").read().decode()
        assert any(n.startswith(f"{top}/server_logs/2") for n in names)
    assert shared.command("pbs_snapshot", check=False).returncode == 2
