"""The command line as scripts know it: exit codes and texts, row by row, and what status shows of a job."""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

from harness import api, users
from harness.complex import Complex
from harness.wait import until

USER = (users.available() or [None])[0]


@pytest.fixture(scope="module")
def place():
    """Nodes that nothing is started on, and history."""
    c = Complex(nodes=2, ncpus=4, sched=False, history=True)
    try:
        yield c.start()
    finally:
        c.stop()


def submit(cx, *words, stdin="sleep 600\n", env=None):
    """By qsub, as a plain user: the number alone."""
    done = cx.command("qsub", *words, user=USER, stdin=stdin, env=env)
    assert done.stderr == "" and re.fullmatch(r"\d+(\[\])?\.\S+\n", done.stdout), done
    return done.stdout.strip()


def run(cx, line, user=USER, **names):
    """A line of words; {name} is filled in. (code, stdout, stderr without the usage)"""
    done = cx.command(*[w.format(**names) for w in line.split()], user=user, check=False)
    return done.returncode, done.stdout, re.split(r"(?m)^(?=[uU]sage)", done.stderr)[0]


# --- what the server says: its known words first, then what was wrong

@pytest.mark.parametrize("line, code, said", [
    ("qsig -s SIGFOO {running}", 15013, 'qsig: Unknown/illegal signal name: "SIGFOO" is not a signal {running}'),
    ("qsig -s USR1 {held}", 15016, "qsig: Request invalid for state of job {held}"),
    ("qmove workq {running}", 15016, "qmove: Request invalid for state of job {running}"),
    ("qselect -q nowhere", 15018, "qselect: Unknown queue: nowhere"),
    ("qsub -l max_walltime=9 {script}", 15162, 'qsub: Cannot have "max_walltime" without "min_walltime"'),
    ("qsub -l max_walltime=5,min_walltime=9 {script}", 15163,
     'qsub: "min_walltime" can not be greater than "max_walltime"'),
    ("qalter -l max_walltime=9 {held}", 15162,
     'qalter: Cannot have "max_walltime" without "min_walltime" {held}'),
])
def test_an_error_begins_with_the_words_that_scripts_know(jobs, place, line, code, said):
    assert run(place, line, **jobs) == (code % 256, "", said.format(**jobs) + "\n")


@pytest.mark.parametrize("line, code, said", [
    ("qrerun {held}", 15016, "qrerun: Request invalid for state of job: job {held} is held"),
])
def test_an_operator_reads_them_too(jobs, place, line, code, said):
    assert run(place, line, user=None, **jobs) == (code % 256, "", said.format(**jobs) + "\n")


@pytest.fixture(scope="module")
def jobs(place):
    """One that runs, one that is held, and a script."""
    running = submit(place)
    place.api.run(running, "(n1:ncpus=1)")
    place.wait(running)
    return {"running": running, "held": submit(place, "-h"), "script": place.script("true")}


# --- status

def test_a_null_signal_only_asks_whether_the_job_is_there(place, jobs):
    for name in ("SIGNULL", "NULL", "0"):
        assert run(place, "qsig -s " + name + " {running}", **jobs) == (0, "", "")
    assert place.state(jobs["running"]) == "R"


@pytest.mark.parametrize("asked, shown", [("1:mem=2gb", "2gb"), ("2:mem=2GB+1:mem=1gb", "5gb"),
                                          ("1:mem=1gb+1:mem=100mb", "1150976kb"), ("2:mem=100MW", "200mw")])
def test_memory_is_shown_in_the_unit_that_was_asked_for(place, asked, shown):
    assert place.stat(submit(place, "-h", "-l", f"select={asked}"))["Resource_List"]["mem"] == shown


def test_a_directory_for_output_is_shown_as_it_was_said(place):
    s = place.stat(submit(place, "-h", "-N", "named", "-o", "/tmp", "-e", "/tmp/", "-J", "1-2"))
    assert s["Output_Path"].endswith(":/tmp/") and s["Error_Path"].endswith(":/tmp/")


def test_output_in_a_directory_has_the_name_of_the_job_and_on_a_host_the_usual_one(cx):
    where = os.path.join(cx.work, "there")
    os.mkdir(where)
    os.chmod(where, 0o777)
    job = submit(cx, "-h", "-N", "named", "-o", where + "/", "-e", "localhost:", "--", cx.script("echo out\necho err >&2"))
    number = job.split(".")[0]
    assert cx.stat(job)["Error_Path"] == f"localhost:{cx.work}/named.e{number}"
    cx.command("qrls", job, user=USER)
    cx.wait_gone(job)
    assert os.listdir(where) == [f"{job}.OU"] and cx.file(f"there/{job}.OU") == "out\n"
    assert cx.file(f"named.e{number}") == "err\n"


def test_runs_before_its_submission_count_and_waiting_is_not_eligible(place):
    s = place.stat(submit(place, "-a", "203912312359", "-W", "run_count=3"))
    assert s["run_count"] == "3" and "etime" not in s


@pytest.mark.parametrize("restarted", [False, True])
def test_a_job_that_was_deleted_before_it_ran_has_an_exit_status(place, restarted):
    job, array = submit(place, "-h"), submit(place, "-h", "-J", "1-3")
    place.command("qdel", job, array, user=USER)
    if restarted:
        place.kill("server")
        place.restart("server")
        place.again()
        place.hosts_back()
    for one in (job, array, array.replace("[]", "[2]")):
        assert place.api.stat("job", one, extend="x")[0]["Exit_status"] == "265"


def test_a_killed_job_shows_256_and_the_signal_and_its_files_are_there_before_it_is_finished(cx):
    cx.set_server("job_history_enable", "True")
    job = submit(cx, "-N", "dies", "--", cx.script("echo last words\nkill -9 $$"))
    ended = until(lambda: (s := cx.api.stat("job", job, extend="x")[0]).state == "F" and s, "the end of the job")
    assert ended["Exit_status"] == str(256 + 9)
    assert cx.file(f"dies.o{job.split('.')[0]}") == "last words\n"


def test_at_server_means_its_default_queue(place):
    place.make_queue("elsewhere")
    job = submit(place, "-h", "-q", "elsewhere")
    assert run(place, "qmove @{server} {job}", server=job.split(".")[1], job=job) == (0, "", "")
    assert place.stat(job)["queue"] == "workq"


# --- command lines: what is wrong is said in PBS's words, and then what would be right

@pytest.mark.parametrize("line, code, said", [
    ("qsub -p 5000 {script}", 2, "qsub: illegal -p value\n\tright is: -p priority   -1024 to 1023\n"),
    ("qsub -J 1-4%2 -W max_run_subjobs=3 {script}", 2, "qsub: multiple max_run_subjobs values found\n"),
    ("qsub -W max_run_subjobs=3 -J 1-4%2 {script}", 2, "qsub: multiple max_run_subjobs values found\n"),
    ("qsub /nonexistent", 1, "qsub: script file:: No such file or directory\n\t/nonexistent is taken for the script; "
                             "a command follows --: qsub [options] -- command arguments\n"),
    ("qsub /tmp", 1, "qsub: script not a file\n\t/tmp\n"),
    ("qselect -p x", 2, "qselect: illegal -p value\n\tright is: -p [op]priority   -1024 to 1023\n"),
    ("qselect -N a/b", 2, "qselect: illegal -N value\n\tright is: -N name   the job's name\n"),
    ("qselect -c x", 2, "qselect: illegal -c value\n\tright is: -c [op]interval   "
                        "checkpoint: n, s, c, c=minutes, w, w=minutes or u\n"),
    ("qhold 99999.{server}@{server}", 15001, "qhold: Unknown Job Id 99999.{server}\n"),
    ("qorder {held} 99999", 1, "qorder: Unknown Job Id 99999.{server}\n"),
    ("qorder 99999 {held}", 1, "qorder: Unknown Job Id 99999.{server}\n"),
    ("qstat nowhere@{server}", 15018, "qstat: Unknown queue nowhere@{server}\n"),
    ("qstat -E workq", 2, "qstat: Express option can only be used with job ids\n"),
    ("qstat -f -w -F dsv", 2, "qstat: option w cannot be used with -F\n"),
    ("qstat -fa", 2, "qstat: conflicting options.\n"),
    ("pbsnodes nope", 1, "Node: nope,  Error: Unknown node  nope\n"),
    ("pbsnodes -H nope", 1, "Node: nope,  Error: Unknown node  nope\n"),
    ("pbsnodes -a n1", 1, "pbsnodes: -a and -l show all hosts; name some without them\n"),
    ("pbsnodes -o -r n1", 1, "pbsnodes: -o and -r exclude each other\n"),
    ("pbsnodes -j -a", 1, "pbsnodes: -j and -L go with -S\n"),
])
def test_a_mistake_is_named_with_what_would_be_right(jobs, place, line, code, said):
    server = jobs["held"].split(".")[1]
    assert run(place, line, server=server, **jobs) == (code % 256, "", said.format(server=server, **jobs))


def test_lines_that_end_as_on_windows_are_refused_with_the_remedy(place):
    done = place.command("qsub", user=USER, stdin="#PBS -N x\r\ntrue\r\n", check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "qsub: script contains cr, lf\n\tits lines end as on Windows; dos2unix converts them\n"


def test_the_list_of_preempt_targets_belongs_to_them(place):
    s = place.stat(submit(place, "-h", "-l", "preempt_targets=queue=workq,Resource_List.ncpus=4,walltime=5"))
    assert s["Resource_List"]["preempt_targets"] == "queue=workq,Resource_List.ncpus=4"
    assert s["Resource_List"]["walltime"] == "00:00:05"


# --- JSON and DSV

@pytest.mark.parametrize("line, code, key", [
    ("qstat -f -F json 99999", 15001, "Jobs"), ("qstat -Qf -F json nowhere", 15018, "Queue"),
    ("pbsnodes -F json nope", 1, "nodes"), ("qstat -Ef -F JSON 99999 99998", 15001, "Jobs")])
def test_there_is_a_document_though_there_is_nothing_in_it(place, line, code, key):
    done = place.command(*line.split(), check=False)
    document = json.loads(done.stdout)
    assert done.returncode == code % 256 and document[key] == {}
    assert set(document) == {"timestamp", "pbs_version", "pbs_server", key}


def test_values_that_are_no_number_for_everybody_are_text(place):
    job = submit(place, "-h", "-v", "A=005,B=1e400,C=99999999999999999999,D=12,E=-1.5,F=True")
    variables = json.loads(place.command("qstat", "-f", "-F", "json", job).stdout)["Jobs"][job]["Variable_List"]
    assert [variables[k] for k in "ABCDEF"] == ["005", "1e400", "99999999999999999999", 12, -1.5, "True"]


def test_express_names_each_job_that_is_not_there(place, jobs):
    gone = submit(place, "-h")
    place.command("qdel", gone, user=USER)
    done = place.command("qstat", "-E", jobs["held"], "99999", gone, "99998", check=False)
    server = gone.split(".")[1]
    assert done.returncode == 15001 % 256
    assert [line.split()[0] for line in done.stdout.splitlines()[2:]] == [jobs["held"]]
    assert done.stderr == (f"qstat: Unknown Job Id 99999.{server}\nqstat: {gone} Job has finished, use -x or -H to "
                           f"obtain historical job information\nqstat: Unknown Job Id 99998.{server}\n")


def test_the_lines_of_nodes_are_the_same_in_dsv_and_json(place):
    for option in ("-aS", "-aSj"):
        table = json.loads(place.command("pbsnodes", option, "-F", "json").stdout)["nodes"]
        lines = place.command("pbsnodes", option, "-F", "dsv", "-D", "::").stdout.splitlines()
        assert len(lines) == len(table) == 2
        for line in lines:
            fields = dict(f.split("=", 1) for f in line.split("::"))
            node = table[fields.pop("Name")]
            assert set(fields) == set(node)
            assert all(fields[k] == str(v) for k, v in node.items() if k != "jobs")


@pytest.mark.parametrize("form, shown", [
    (["-F", "dsv"], r"|Account_Name=red^[[31m\|x\nä|"), (["-F", "dsv", "-D", "ä"], r"äAccount_Name=red^[[31m|x\n\ää"),
    (["-w"], r"    Account_Name = red^[[31m|x\nä" + "\n"), ([], r"    Account_Name = red^[[31m|x\nä" + "\n")])
def test_control_characters_of_a_job_do_not_reach_the_terminal_of_its_reader(place, form, shown):
    job = submit(place, "-h", "-A", "red\x1b[31m|x\nä")
    done = place.command("qstat", "-f", *form, job)
    assert shown in done.stdout and "\x1b" not in done.stdout


def test_a_suspended_job_is_counted_as_one(cx):
    job = cx.submit()
    until(lambda: cx.stat(job)["substate"] == "42", "the start of the job")
    cx.command("qsig", "-s", "suspend", job)
    cx.wait(job, state="S")
    node = json.loads(cx.command("pbsnodes", "-aSj", "-F", "json").stdout)["nodes"]["n1"]
    assert (node["Total Jobs"], node["Running Jobs"], node["Suspended Jobs"]) == (1, 0, 1)
    assert cx.command("pbsnodes", "-Sj", "n1").stdout.splitlines()[-1].split()[2:5] == ["1", "0", "1"]


# --- a stranger's mistakes

@pytest.mark.parametrize("line, code, said", [
    ("qsub -l walltme=5 {script}", 15035,
     "qsub: Unknown resource: Resource_List.walltme, did you mean walltime?\n"),
    ("qsub -l select=1:npcus=2 {script}", 15035, "qsub: Unknown resource: npcus, did you mean ncpus?\n"),
    ("qsub -l bananas=2 {script}", 15035, "qsub: Unknown resource: Resource_List.bananas\n"),
    ("qsub -W Acount_Name=me {script}", 15002, "qsub: Undefined attribute  Acount_Name, did you mean Account_Name?\n"),
    ("qselect -l memm=2gb", 15035, "qselect: Unknown resource: memm, did you mean mem?\n"),
    ("qstat @no-such-host.invalid", 15008, "Unknown Host.\nqstat: cannot find host no-such-host.invalid: "),
    ("qdel 1@no-such-host.invalid", 15008, "Unknown Host.\nqdel: cannot find host no-such-host.invalid: "),
])
def test_a_misspelled_name_is_recognised(jobs, place, line, code, said):
    got = run(place, line, **jobs)
    assert got[:2] == (code % 256, "") and got[2].startswith(said)
    assert "invalid" not in line or "cannot connect to server no-such-host.invalid (errno=15008)\n" in got[2]


@pytest.mark.complex(nodes=0, sched=False)
def test_a_server_without_nodes_and_one_that_is_down(cx):
    for line in ("pbsnodes -a", "pbsnodes n1", "pbsnodes -l"):
        assert run(cx, line) == (1, "", "pbsnodes: Server has no node list\n")
    cx.stop_daemon("server")
    for line, words in (("qstat", "cannot connect to server {} (errno=111)"),
                        ("qsub -h -- /bin/true", "cannot connect to server {} (errno=111)"),
                        ("qstart workq", "could not connect to server {} (111)")):
        code, out, said = run(cx, line)
        name = line.split()[0]
        assert (code, out) == (111, "") and said.count("\n") == 2
        assert re.search(rf"^{name}: {words.format('[^ ]+').replace('(', '[(]').replace(')', '[)]')}$", said, re.M)


def test_a_vnode_that_is_offline_is_listed_where_others_of_its_host_are_not(cx):
    cx.qmgr("create node n1[0] Mom=n1", "set node n1[0] resources_available.host=n1")
    until(lambda: {n.state for n in cx.api.stat("vnode")} == {"free"}, "both vnodes")
    cx.qmgr("set node n1[0] state=offline,comment='bad disk'")
    for line in ("pbsnodes -l", "pbsnodes -lv"):
        assert run(cx, line) == (0, "n1[0]                offline bad disk\n", "")
    cx.command("pbsnodes", "-o", "n1")
    assert run(cx, "pbsnodes -l") == (0, "n1                   offline bad disk\n", "")
    cx.command("pbsnodes", "-r", "n1")
    assert run(cx, "pbsnodes -l") == (0, "", "")


def test_clients_are_told_a_version_of_pbs_and_cedes_own_beside_it(place):
    """Scripts compare pbs_version; PBS_VERSION of pbs.conf and the server's reported_version set it."""
    own = place.command("qstat", "--version").stdout
    assert own == "pbs_version = 23.06.06\n"
    shown = lambda: json.loads(place.command("qstat", "-Bf", "-F", "json").stdout)["pbs_version"]
    server = lambda: place.command("qstat", "-Bf").stdout
    assert shown() == "23.06.06"
    cede = re.search(r"^    cede_version = (\d+\.\d+\.\d+)$", server(), re.M)[1]
    assert f"     cede_version = {cede}\n     " in place.command("pbsnodes", "-a").stdout
    assert "     pbs_version = 23.06.06\n" in place.command("pbsnodes", "-a").stdout
    place.qmgr("set server reported_version = 22.05.11")
    try:
        assert shown() == "22.05.11" and "    pbs_version = 22.05.11\n" in server()
        assert f"    cede_version = {cede}\n" in server()
    finally:
        place.qmgr("unset server reported_version")
    assert shown() == "23.06.06"
    with open(place.env["PBS_CONF_FILE"], encoding="utf-8") as f:
        conf = f.read()
    other = os.path.join(place.top, "other.conf")
    with open(other, "w", encoding="utf-8") as f:
        f.write(conf + "PBS_VERSION=20.0.1\n")
    for program in ("qstat", "qsub", "pbs_server", "pbs_sched", "pbs_mom", "pbsfs", "pbs_store", "pbs_keys", "pbs_comm"):
        folder = "bin" if program in ("qstat", "qsub") else "sbin"
        done = subprocess.run([os.path.join(os.environ["CEDE_BUILD"], folder, program), "--version"], env=place.env | {"PBS_CONF_FILE": other},
                              capture_output=True, text=True, check=True)
        assert done.stdout == "pbs_version = 20.0.1\n", program


def test_the_mom_of_a_node_is_first_in_its_record(place):
    assert place.command("pbsnodes", "n1").stdout.splitlines()[:2] == ["n1", "     Mom = n1"]
    place.qmgr("set node n1 Mom = other.host")
    assert "     Mom = other.host\n" in place.command("pbsnodes", "n1").stdout
    place.qmgr("unset node n1 Mom")
    assert "     Mom = n1\n" in place.command("pbsnodes", "n1").stdout


def test_only_what_exists_becomes_active_in_qmgr(place):
    done = place.command("qmgr", stdin="active queue workq,nope\nactive node n1\nactive node nope\nactive\n", check=False)
    assert done.stderr == "Queue does not exist: nope.\nNode does not exist: nope.\n"
    assert done.stdout.splitlines()[2:] == ["Active queues:", "Active nodes:", "n1@default", "Active schedulers:"]
    alone = place.command("qmgr", "-c", "active queue nope", check=False)
    assert (alone.returncode, alone.stdout) == (4, "")


@pytest.mark.parametrize("line, attributes", [
    ("qsub {script} -h -N late", {"Job_Name": "late", "Hold_Types": "u"}),
    ("qsub -Nfoo -rn -hz -p5 -lwalltime=10:00 {script}", {"Job_Name": "foo", "Rerunable": "False", "Priority": "5"}),
    ("qsub -h -N words -- /bin/echo -N other", {"Job_Name": "words", "Submit_arguments": "-h -N words -- /bin/echo -N "
                                                "other"}),
    ("qsub -koe -mabe -jn -h {script}", {"Keep_Files": "oe", "Mail_Points": "abe", "Join_Path": "n"}),
])
def test_options_are_taken_at_any_place_and_joined(quiet, line, attributes):
    script = quiet.script("true")
    quiet.clean()
    assert run(quiet, line, script=script)[::2] == (0, "")
    full = json.loads(quiet.command("qstat", "-f", "-F", "json").stdout)["Jobs"]
    (job,) = full.values()
    assert {k: str(job[k]) for k in attributes} == attributes
    for after in ("qstat {job} -f", "qalter {job} -N new", "qhold {job} -hu", "qdel {job} -Wforce"):
        assert run(quiet, after, job=next(iter(full)))[::2] == (0, "")


@pytest.mark.parametrize("form, jobs", [
    ("{n}", []), ("{n}[]", ["{n}[]"]), ("{n}[].{s}", ["{n}[]"]), ("{n}[]@{s}", ["{n}[]"]),
    ("{n}[2]", ["{n}[2]"]), ("{n}[2].{s}@{s}", ["{n}[2]"]), ("{n}[1-5:2]", ["{n}[1]", "{n}[3]", "{n}[5]"]),
    ("{n}[1,4-5].{s}", ["{n}[1]", "{n}[4]", "{n}[5]"]), ("@{s}", ["{n}[]"]), ("workq", ["{n}[]"]),
    ("workq@{s}", ["{n}[]"])])
def test_a_job_is_named_in_every_form(quiet, form, jobs):
    quiet.clean()
    number, server = submit(quiet, "-h", "-J", "1-6").replace("[]", "").split(".")
    done = quiet.command("qstat", form.format(n=number, s=server), check=False)
    if form == "{n}":  # an array is not a job
        assert (done.returncode, done.stderr) == (15001 % 256, f"qstat: Unknown Job Id {number}.{server}\n")
    else:
        shown = [line.split()[0] for line in done.stdout.splitlines()[2:]]
        assert shown == [f"{j.format(n=number)}.{server}" for j in jobs]


def test_qrerun_waits_no_longer_than_the_site_says_and_the_rerun_continues(cx):
    cx.set_queue("workq", "kill_delay", "600")
    cx.set_server("job_requeue_timeout", "2")
    go = os.path.join(cx.work, "go")
    job = cx.submit(f"[ -e {go} ] && exec sleep 600; trap '' TERM; echo > {go}.ready; until [ -e {go} ]; do sleep 0.2; done")
    until(lambda: os.path.exists(f"{go}.ready"), "its first run")
    tried = cx.command("qrerun", job, check=False)
    assert tried.stderr == f"qrerun: Response timed out. Job rerun request still in progress for {job}\n"
    assert tried.returncode == 15011 % 256
    with open(go, "w", encoding="ascii"):
        pass
    cx.wait(job, run=2)


@pytest.mark.parametrize("kept, where", [("n", "later"), ("doe", "first"), ("n", None)])
def test_output_goes_where_qalter_says_while_the_job_runs(cx, kept, where):
    first, later, go = (os.path.join(cx.work, name) for name in ("first", "later", "go"))
    job = cx.submit(f"echo words; until [ -e {go} ]; do sleep 0.2; done", Join_Path="oe", Output_Path=first,
                    Keep_Files=kept)
    until(lambda: cx.stat(job).get("session_id"), "its start")
    cx.command("qalter", "-o", later if where else "/dev/null", job)
    with open(go, "w", encoding="ascii"):
        pass
    cx.wait_gone(job)
    assert [name for name in ("first", "later") if os.path.exists(os.path.join(cx.work, name))] == ([where] if where else [])
    assert not where or cx.file(where) == "words\n"
    assert os.listdir(os.path.join(cx.dir, "mom", "n1", "spool")) == []


def at_a_terminal(cx, columns, *words):
    """Lines that a command writes to a terminal of this width."""
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execvpe("timeout", ["timeout", "--foreground", "60", *words], cx.env)
    text = b""
    try:
        while more := os.read(fd, 65536):
            text += more
    except OSError:
        pass  # the other end is closed
    os.close(fd)
    assert os.waitpid(pid, 0)[1] == 0
    return text.decode().replace("\r\n", "\n").split("\n")


@pytest.mark.parametrize("words", [("qstat",), ("qstat", "-a"), ("qstat", "-ans"), ("qstat", "-p")])
def test_a_listing_takes_the_width_of_the_terminal(quiet, words):
    name = "a_name_of_thirty_characters_xx"
    job = quiet.submit(Job_Name=name, Hold_Types="u")
    quiet.api.alter(job, [("comment", "a long story " * 15)])
    piped = quiet.command(*words, job).stdout.split("\n")
    assert all(len(line) <= 80 for line in piped) and not any(name in line for line in piped)
    for columns in (60, 80, 200):
        lines = at_a_terminal(quiet, columns, *words, job)
        assert all(len(line) <= columns for line in lines if line != f"{job.split('.')[1]}: "), (columns, lines)
        assert any(name in line for line in lines) == (columns == 200), (columns, lines)
    assert [line.rstrip() for line in at_a_terminal(quiet, 80, *words, job)] == [line.rstrip() for line in piped]
    quiet.api.delete(job)


@pytest.mark.parametrize("words", [("qstat", "-Q"), ("qstat", "-B"), ("qstat", "-q"), ("qstat", "-a")])
def test_at_a_narrow_terminal_what_says_least_is_left_out(quiet, words):
    job = quiet.submit(Hold_Types="u")
    piped = quiet.command(*words).stdout.split("\n")
    for columns in (38, 44, 50, 60, 70, 76):
        lines = at_a_terminal(quiet, columns, *words)
        assert all(len(line.rstrip()) <= columns for line in lines), (columns, lines)
        heads = [line.split() for line in lines if line.startswith(("Queue", "Server", "Job ID"))]
        whole = [line.split() for line in piped if line.startswith(("Queue", "Server", "Job ID"))]
        assert len(heads) == 1 and all(any(w.startswith(h) for w in whole[0]) for h in heads[0]) and (columns > 50 or heads != whole), (columns, lines)
        dashed = next(line for line in lines if line.startswith("----"))
        assert all(line[i] == " " for line in lines[lines.index(dashed) + 1:][:1] for i, c in enumerate(dashed[:len(line)]) if c == " "), lines
    for columns in (80, 200):
        lines = at_a_terminal(quiet, columns, *words)
        assert [line.split() for line in lines if "--" not in line] == [line.split() for line in piped if "--" not in line]
    quiet.api.delete(job)


def test_a_full_listing_is_folded_at_the_width_of_the_terminal(quiet):
    job = quiet.submit(Hold_Types="u", Mail_Users=",".join(f"somebody{i}@somewhere" for i in range(20)))
    n = []
    for columns in (50, 200):
        lines = [line for line in at_a_terminal(quiet, columns, "qstat", "-f", job) if "somebody" in line]
        assert all(len(line.expandtabs()) <= columns for line in lines)
        n.append(len(lines))
    assert n[0] > 2 * n[1]
    quiet.api.delete(job)


# --- as scripts around PBS use them

@pytest.mark.parametrize("words", [("SCRIPT", "--"), ("SCRIPT", "--", "cmd"), ("--",)])
def test_qsub_takes_no_dashes_behind_a_script_and_none_without_a_program(cx, words):
    script = cx.script("true")
    done = cx.command("qsub", *[script if w == "SCRIPT" else w for w in words], check=False, stdin="")
    assert done.returncode == 2 and "usage:" in done.stderr and not cx.api.stat("job")


@pytest.mark.parametrize("name", ["two words", "a/b", "", "x" * 231])
def test_qsub_says_that_a_name_is_illegal_itself(cx, name):
    done = cx.command("qsub", "-N", name, cx.script("true"), check=False)
    assert done.returncode == 2 and "qsub: illegal -N value" in done.stderr


@pytest.mark.complex(nodes=1, ncpus=1, history=True)
def test_a_job_that_is_named_twice_is_deleted_once_without_a_word(cx):
    for job in (cx.submit(), cx.submit(Hold_Types="u")):
        done = cx.command("qdel", job, job, job)
        assert done.stdout == done.stderr == ""
        cx.wait_gone(job)
    held = cx.submit(Hold_Types="u")
    cx.command("qdel", held)
    assert cx.stat(held)["Exit_status"] == "265"


@pytest.mark.complex(nodes=1, ncpus=3, history=True)
def test_a_range_of_subjobs_that_have_ended_is_deleted_without_a_word_while_the_array_lives(cx):
    array = cx.submit(array_indices_submitted="1-4")
    number, rest = array.split("[]")
    for i in (1, 2, 3):
        cx.wait(f"{number}[{i}]{rest}")
    for _ in range(2):
        done = cx.command("qdel", f"{number}[1-2]{rest}")
        assert done.stdout == done.stderr == ""
        for i in (1, 2):
            cx.wait(f"{number}[{i}]{rest}", "X")
    assert cx.command("qdel", f"{number}[1]{rest}", check=False).returncode  # a single one was meant
    lines = cx.command("qstat", "-pt", array).stdout.splitlines()
    assert [line.split()[3:5] for line in lines if f"{number}[1]" in line or f"{number}[2]" in line] == [["100", "X"]] * 2


def test_percentages_and_all_attributes_may_be_asked_together(cx):
    job = cx.submit(Hold_Types="u")
    assert job in json.loads(cx.command("qstat", "-fp", "-F", "json", job).stdout)["Jobs"]
    assert f"Job Id: {job}" in cx.command("qstat", "-f", "-p", job).stdout


def test_qselect_names_a_destination_that_cannot_be(cx):
    done = cx.command("qselect", "-q", "aaa@no.such.host.invalid", check=False)
    assert done.returncode and "qselect: illegally formed destination: aaa@no.such.host.invalid" in done.stderr


@pytest.mark.complex(nodes=1, ncpus=2)
def test_pbsnodes_takes_a_host_with_all_its_vnodes_and_gives_it_back_without_the_comment(cx):
    cx.api.manager(api.CREATE, api.NODE, "half", [("Mom", None, "n1")])
    host = cx.node("n1")["resources_available"]["host"]
    cx.api.manager(api.MSET, api.NODE, "half", [("resources_available", "host", host)])
    cx.command("pbsnodes", "-o", "-C", "disk swap", host)
    for name in ("n1", "half"):
        assert "offline" in cx.node(name)["state"] and cx.node(name)["comment"] == "disk swap"
    cx.command("pbsnodes", "-r", host)
    for name in ("n1", "half"):
        assert "offline" not in cx.node(name)["state"] and "comment" not in cx.node(name)


@pytest.mark.complex(nodes=0, sched=False)
def test_an_identifier_too_long_for_its_wide_column_is_cut_and_ends_in_a_star(cx):
    with open(cx.conf, "a", encoding="ascii") as f:
        f.write("PBS_SERVER=a-server-whose-name-is-too-long-for-the-column\n")
    cx.restart("server")
    cx.again()
    array = cx.submit(array_indices_submitted="1-2", Hold_Types="u")
    assert len(array) > 30
    for options, cut in ((["-w"], array[:29] + "*"), (["-aw"], array[:29] + "*"),
                         (["-awt"], array.replace("[]", "[1]")[:29] + "*")):
        lines = cx.command("qstat", *options).stdout.splitlines()
        assert any(line.startswith(cut + " ") for line in lines), (options, lines)
    assert array in cx.command("qstat").stdout
