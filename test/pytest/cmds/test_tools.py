"""Tools beside the job commands: what they print, and how they end."""
import json
import os
import pwd
import re
import subprocess
import tarfile
import time

import pytest

from harness import users
from harness.wait import until

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


def test_pbs_probe_misses_folders_and_mends_the_modes_of_files(cx):
    jobs, config = (os.path.join(cx.home, p) for p in ("server_priv/jobs", "sched_priv/sched_config"))
    environment = os.path.join(cx.home, "pbs_environment")
    cx.command("pbs_probe", "-f", check=False)
    os.rmdir(jobs)
    os.chmod(config, 0o666)
    os.chmod(environment, 0o600)
    done = cx.command("pbs_probe", check=False)
    assert done.returncode == 1 and sorted(done.stdout.splitlines()) == sorted([
        f"{jobs}: is missing", f"{config}: its mode is 0666 and should be 0644",
        f"{environment}: its mode is 0600 and should be 0644"])
    cx.command("pbs_probe", "-f")
    assert [os.stat(p).st_mode & 0o7777 for p in (jobs, config, environment)] == [0o750, 0o644, 0o644]
    assert cx.command("pbs_probe").stdout == ""
    os.chmod(config, 0o600)  # as the site likes
    assert cx.command("pbs_probe").stdout == "" and not os.path.exists(os.path.join(cx.home, "mom_priv"))


def test_the_data_service_is_there_while_the_server_is(cx):
    assert cx.command("pbs_dataservice", "status").stdout == "PBS data service running locally\n"
    assert cx.command("pbs_dataservice", "stop", check=False).returncode == 1
    cx.stop_daemon("server")
    done = cx.command("pbs_dataservice", "status", check=False)
    assert (done.returncode, done.stdout) == (1, "PBS data service not running\n")
    assert cx.command("pbs_dataservice", check=False).returncode == 1


def snapshot(cx, *options, env=None):
    """The files of a snapshot: name below its top, text."""
    where = os.path.join(cx.work, f"snap{len(os.listdir(cx.work))}")
    os.mkdir(where)
    out = cx.command("pbs_snapshot", "-o", where, *options, limit_s=180, env=env).stdout
    with tarfile.open(out.split(": ", 1)[1].strip()) as tar:
        return {m.name.split("/", 1)[1]: tar.extractfile(m).read().decode(errors="replace")
                for m in tar.getmembers() if m.isfile()}


def test_snapshots_of_one_second_are_files_of_their_own(shared, tmp_path):
    (tmp_path / "date").write_text("#!/bin/sh\necho 20260101_00_00_00\n")
    (tmp_path / "date").chmod(0o755)
    where = tmp_path / "out"
    where.mkdir()
    env = {"PATH": f"{tmp_path}:{shared.env['PATH']}"}
    said = [shared.command("pbs_snapshot", "--basic", "-o", where, limit_s=180, env=env).stdout for _ in range(2)]
    begun = [subprocess.Popen(["pbs_snapshot", "--basic", "-o", where], env={**shared.env, **env}, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said += [child.communicate()[0] for child in begun]
    names = {line.split(": ")[1].strip() for line in said}
    assert len(names) == 5 and {str(where / name) for name in os.listdir(where)} == names
    for name in names:
        with tarfile.open(name) as tar:
            tops = {m.name.split("/")[0] for m in tar.getmembers()}
        assert tops == {os.path.basename(name)[:-len(".tgz")]}
    (where / "closed").touch()
    done = shared.command("pbs_snapshot", "--basic", "-o", where / "closed", env=env, check=False)
    assert done.returncode == 1 and "closed" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
@pytest.mark.complex(history=True)
def test_an_obfuscated_snapshot_holds_no_names_and_the_map_leads_back_to_them(cx):
    secret, user = "topsecretjob", users.NAMES[0]
    script = cx.script("true")
    said = ("-N", secret, "-P", "moonshot", "-v", "word=hushhush")
    job = cx.command("qsub", *said, script, user=user).stdout.strip()
    cx.wait_gone(job)
    cx.command("qsub", *said, "-h", script, user=user)
    cx.set_server("operators", f"{user}@*")
    names = os.path.join(cx.work, "names")
    files = snapshot(cx, "--obfuscate", f"--map={names}")
    assert "server/qstat_Bf.out" in files and any(name.startswith("server_priv/accounting/") for name in files)
    hidden = {secret, "moonshot", "hushhush", user, cx.stat(job, "x")["egroup"], "n1"}
    for name, text in files.items():
        found = {w for w in hidden if re.search(rf"(?<![\w.-]){w}(?![\w-])", text)}
        assert not found, f"{name} says {found}"
    with open(names, encoding="ascii") as f:
        words = dict(reversed(line.split()) for line in f)
    assert os.stat(names).st_mode & 0o777 == 0o600
    assert f"euser = {words[user]}\n" in files["job/qstat_f.out"] and f"project = {words['moonshot']}\n" in files["job/qstat_f.out"]
    assert f"project={words['moonshot']} " in "".join(t for n, t in files.items() if "accounting" in n)
    assert f"\n{words['n1']}\n" in "\n" + files["node/pbsnodes_va.out"]
    done = cx.command("pbs_snapshot", "-o", cx.work, f"--map={names}", check=False)
    assert done.returncode == 1 and "say both" in done.stderr


def test_a_snapshot_takes_logs_of_additional_hosts_along(cx):
    """An ssh that stays here and tells what it was asked stands in for the way to another host."""
    tools = os.path.join(cx.work, "tools")
    os.mkdir(tools)
    with open(os.path.join(tools, "ssh"), "w", encoding="ascii") as f:
        f.write('#!/bin/sh\n[ "$3" = far1 ] || exit 255\nshift 3\nexec "$@"\n')
    os.chmod(os.path.join(tools, "ssh"), 0o755)
    conf = os.path.join(cx.dir, "mom", "n1", "pbs.conf")
    env = {"PATH": tools + ":" + cx.env["PATH"], "PBS_CONF_FILE": conf}
    files = snapshot(cx, "--additional-hosts=far1,far2", "--daemon-logs=2", env=env)
    assert any(name.startswith("hosts/far1/mom_priv/") for name in files), sorted(files)
    assert any(name.startswith("hosts/far1/mom_logs/2") for name in files)
    assert not any(name.startswith("hosts/far2/") for name in files)


def test_a_snapshot_holds_answers_configuration_and_logs(shared, tmp_path):
    job = shared.submit(Hold_Types="u")
    where = str(tmp_path)
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


def test_every_command_tells_its_version_when_asked_for_nothing_else(shared):
    daemons = {"pbs_server", "pbs_sched", "pbs_mom", "pbs_comm", "pbs_execsim"}
    own = shared.command("qstat", "--version").stdout
    assert re.fullmatch(r"pbs_version = \S+\n", own)
    for folder in ("bin", "sbin"):
        for name in sorted(set(os.listdir(f"{shared.build}/{folder}")) - daemons):
            for word in ("--version", "--VERSION"):
                said = shared.command(f"{shared.build}/{folder}/{name}", word)
                assert said.stdout == own, name


def test_pbs_python_is_python(shared):
    assert shared.command("pbs_python", "-c", "import sys; print(sys.argv[1:], 6 * 7)", "--hook").stdout == "['--hook'] 42\n"
    assert shared.command("pbs_python", "-c", "raise SystemExit(7)", check=False).returncode == 7
    assert shared.command("pbs_python", "--version").stdout == shared.command("qstat", "--version").stdout


def test_pbs_remsh_stays_in_the_job_and_is_a_remote_shell_elsewhere(cx):
    job = cx.submit(f"{cx.build}/bin/pbs_remsh -n $(head -1 $PBS_NODEFILE) 'echo $PBS_JOBID in $PBS_TASKNUM; exit 9'; echo status $?",
                    Output_Path=f"{cx.work}/said", Join_Path="oe")
    cx.wait_gone(job)
    said = until(lambda: cx.file("said"), "the job's output").splitlines()
    assert said[-1] == "status 9" and said[0].startswith(f"{job} in ")
    there = cx.command("pbs_remsh", "some.host", "true", "x", env={"PBS_RSHCOMMAND": "echo to"})
    assert there.stdout == "to some.host true x\n"


@pytest.mark.complex(nodes=0, sched=False, store="postgres")
def test_pbs_ds_password_changes_it_at_the_database_and_keeps_it(cx):
    kept = os.path.join(cx.home, "server_priv", "db_password")

    with open(cx.conf, encoding="ascii") as f:
        conf = dict(line.strip().split("=", 1) for line in f if "=" in line)

    def known():
        return cx.command("psql", "-XAt", "-h", conf["PBS_DATA_SERVICE_HOST"], "-p", conf["PBS_DATA_SERVICE_PORT"], "-d", "pbs_datastore",
                          "-c", "select rolpassword from pg_authid where rolname = current_user").stdout

    for said, why in (("one\ntwo\n", "Entered passwords do not match"), ("\n\n", "Blank password is not allowed")):
        done = cx.command("pbs_ds_password", stdin=said, check=False)
        assert done.returncode == 1 and why in done.stderr and not os.path.exists(kept)
    before = known()
    assert cx.command("pbs_ds_password", stdin="it's\nit's\n").stdout.rstrip().endswith("from its next start on")
    second = known()
    with open(kept, encoding="ascii") as f:
        assert f.read() == "it's\n" and second != before
    assert "---> Success" in cx.command("pbs_ds_password", "-r").stdout and known() != second
    assert os.stat(kept).st_mode & 0o777 == 0o600
    cx.restart("server")
    assert cx.again().stat("server")


def test_an_embedded_store_has_no_password(shared):
    done = shared.command("pbs_ds_password", "-r", check=False)
    assert done.returncode == 1 and "it has no password" in done.stderr
    assert "as no other" in shared.command("pbs_ds_password", "-C", "anna", check=False).stderr


def test_tracejob_and_qselect_write_documents(cx):
    job = cx.submit("sleep 600", Job_Name="a_job")
    cx.wait(job)
    assert json.loads(cx.command("qselect", "-F", "json").stdout) == {"jobs": [job]}
    assert json.loads(cx.command("qselect", "-F", "JSON", "-N", "no_such").stdout) == {"jobs": []}
    shown = json.loads(cx.command("tracejob", "-F", "json", "-p", cx.home, job).stdout)["jobs"]
    assert list(shown) == [job] and {line["source"] for line in shown[job]} >= {"server", "scheduler", "accounting"}
    lines = [line.split(None, 3) for line in cx.command("tracejob", "-w", "1000", "-p", cx.home, job).stdout.splitlines() if "/" in line[:3]]
    assert [line["time"].split() for line in shown[job]] == [line[:2] for line in lines]
    done = cx.command("qselect", "-F", "xml", check=False)
    assert done.returncode != 0 and "illegal -F value" in done.stderr
