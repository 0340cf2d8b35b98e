"""Hooks of execution hosts: each event on real MOMs, what hooks see and change, and what becomes of what they refuse."""
import json
import os
import pwd
import signal
import subprocess

import pytest

from harness import api, users
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=2, history=True)


def marks(cx, name="marks"):
    return (cx.file(name) or "").splitlines()


def note(cx, text, name="marks"):
    """Lines of a hook that write one."""
    return f"with open('{cx.work}/{name}', 'a') as f:\n    f.write({text} + '\\n')\n"


def empty(cx, *names):
    for name in names or ("marks",):
        path = os.path.join(cx.work, name)
        if os.path.exists(path):
            os.remove(path)


def ended(cx, job):
    cx.wait_gone(job)
    return cx.stat(job)


def mom_log(cx, name="n1"):
    return cx.log(name)


def test_each_step_of_a_job_has_its_event_in_order(complex, hooks):
    empty(complex)
    events = ["execjob_begin", "execjob_prologue", "execjob_launch", "execjob_epilogue", "execjob_end"]
    for event in events:
        hooks.make(event, event, note(complex, f"'{event} %s %s' % (e.job.id, e.job.in_ms_mom())"))
    job = complex.submit("true")
    assert ended(complex, job).get("Exit_status") == "0"
    until(lambda: len(marks(complex)) == 5, "the hooks")
    assert marks(complex) == [f"{event} {job} True" for event in events]


def test_a_launch_hook_changes_program_arguments_and_environment(complex, hooks):
    hooks.make("first", "execjob_launch", "e.env['COLOUR'] = 'red, green'\ne.env['GONE'] = 'x'", order=1)
    text = f"assert e.env['COLOUR'] == 'red, green'\ne.progname = '/bin/sh'\ne.argv = ['/bin/sh', '-c', 'echo $COLOUR $0 $GONE > {complex.work}/launched', 'named']\ndel e.env['GONE']"
    hooks.make("second", "execjob_launch", text, order=2)
    empty(complex, "launched")
    job = complex.submit("echo never")
    assert ended(complex, job)["Exit_status"] == "0"
    assert marks(complex, "launched") == ["red, green named"]


def test_a_launch_hook_that_rejects_deletes_the_job(complex, hooks):
    hooks.make("no", "execjob_launch", "e.reject('not this program')")
    job = complex.submit("true")
    done = ended(complex, job)
    assert done["Exit_status"] == "-17" and "not this program" in done["comment"]
    assert "execjob_launch request rejected by 'no'" in mom_log(complex)


def test_a_begin_hook_that_rejects_sends_the_job_back_with_its_words(complex, hooks):
    complex.set_server("scheduling", "False")
    hooks.make("no", "execjob_begin", "e.reject('the scratch disk is full')")
    job = complex.submit("true")
    with pytest.raises(api.PbsError, match="the scratch disk is full"):
        complex.api.run(job, "n1")
    done = complex.stat(job)
    assert done.state == "Q" and done["comment"] == "Not Running: PBS Error: the scratch disk is full"


def test_a_begin_hook_that_rejects_and_deletes_ends_the_job(complex, hooks):
    hooks.make("no", "execjob_begin", "e.job.delete()\ne.reject('never here')")
    done = ended(complex, complex.submit("true"))
    assert done["Exit_status"] == "-17" and "never here" in done["comment"]
    assert "Job aborted per a hook rejection" in mom_log(complex)


def test_a_begin_hook_that_fails_takes_its_host_out_of_use(complex, hooks):
    hooks.make("broken", "execjob_begin", "if pbs.get_local_nodename() == 'n1':\n    raise Exception('no GPU')",
               fail_action="offline_vnodes")
    job = complex.submit("true", select="1:ncpus=1:host=n1")
    until(lambda: "offline" in complex.node("n1").state, "n1 offline")
    assert complex.node("n1")["comment"] == "offlined by hook 'broken' due to hook error"
    assert "offline" not in complex.node("n2").state
    complex.wait(job, state="Q")
    assert "execjob_begin hook 'broken' encountered an exception, request rejected" in mom_log(complex)


def test_a_script_that_loops_is_ended_at_its_alarm_and_the_job_goes_back(complex, hooks):
    complex.set_server("scheduling", "False")
    hooks.make("loops", "execjob_prologue", "while True: pass", alarm=1)
    job = complex.submit("true")
    with pytest.raises(api.PbsError, match="got an alarm call. Please inform Admin"):
        complex.api.run(job, "n1")
    assert complex.stat(job).state == "Q"
    assert f"Job;{job};alarm call while running execjob_prologue hook 'loops', request rejected" in mom_log(complex)


def test_hooks_of_a_sister_run_there_and_can_refuse_the_job(complex, hooks):
    empty(complex)
    hooks.make("where", "execjob_begin,execjob_prologue,execjob_epilogue,execjob_end",
               note(complex, "'%s %s %s' % (e.type, pbs.get_local_nodename(), e.job.in_ms_mom())"))
    job = complex.submit("true", select="2:ncpus=1", l_place="scatter")
    assert ended(complex, job)["Exit_status"] == "0"
    until(lambda: len(marks(complex)) == 8, "the hooks")
    for bit in (0x40, 0x80, 0x100, 0x200):
        assert f"{bit} n1 True" in marks(complex) and f"{bit} n2 False" in marks(complex)
    complex.qmgr("delete hook where")
    hooks.names.remove("where")
    hooks.make("no", "execjob_prologue", "if not e.job.in_ms_mom():\n    e.job.delete()\n    e.reject('this sister is not for you')")
    done = ended(complex, complex.submit("sleep 600", select="2:ncpus=1", l_place="scatter"))
    assert done["Exit_status"] == "-17" and "this sister is not for you" in done["comment"]


def test_attributes_that_hooks_of_a_host_set_in_the_job_reach_the_server(complex, hooks):
    complex.qmgr("create resource licences type=long")
    hooks.make("sets", "execjob_begin", "e.job.Variable_List['FROM_HOOK'] = 'a,b'\ne.job.resources_used['licences'] = 3")
    hooks.make("used", "execjob_epilogue", "assert e.job.resources_used['cput'] is not None\ne.job.resources_used['mem'] = pbs.size('77mb')")
    empty(complex, "told")
    job = complex.submit(f"echo $FROM_HOOK > {complex.work}/told")
    done = ended(complex, job)
    assert done["Exit_status"] == "0" and marks(complex, "told") == ["a,b"]
    assert "FROM_HOOK=a" in done["Variable_List"]
    assert done["resources_used"]["licences"] == "3" and done["resources_used"]["mem"] == "77mb"


def test_an_epilogue_hook_asks_for_another_run(complex, hooks):
    empty(complex)
    hooks.make("again", "execjob_epilogue", "if e.job.run_count == 1:\n    e.job.rerun()")
    job = complex.submit(f"echo run >> {complex.work}/marks")
    ended(complex, job)
    assert marks(complex) == ["run", "run"]
    complex.wait_log("server", f"Node;n1;hook request rerun {job}")


def test_suspension_and_its_end_have_their_events(complex, hooks):
    empty(complex)
    hooks.make("after", "execjob_postsuspend", note(complex, "'suspended'"))
    hooks.make("before", "execjob_preresume", "if not pbs.server().vnode('n2').comment:\n    e.reject('not yet')\n" + note(complex, "'resumes'"))
    job = complex.submit(select="1:ncpus=1:host=n1")
    complex.wait(job)
    complex.api.signal(job, "suspend")
    complex.wait(job, state="S")
    until(lambda: marks(complex) == ["suspended"], "the hook")
    said = complex.command("qsig", "-s", "resume", job, check=False)
    assert said.returncode != 0 and complex.state(job) == "S"
    assert "execjob_preresume hook rejected request: not yet" in mom_log(complex)
    complex.qmgr("set node n2 comment=ready")
    complex.api.signal(job, "resume")
    complex.wait(job, state="R")
    assert marks(complex) == ["suspended", "resumes"]
    complex.qmgr("unset node n2 comment")


def test_a_victim_whose_resumption_a_hook_refuses_says_so_behind_the_word_for_whom_it_is_suspended(complex, hooks):
    empty(complex)
    hooks.make("before", "execjob_preresume", "if not pbs.server().vnode('n2').comment:\n    e.reject('not yet')\n")
    complex.make_queue("urgent", Priority="200")
    low = complex.submit(select="1:ncpus=4:host=n1")
    complex.wait(low)
    high = complex.submit(select="1:ncpus=4:host=n1", queue="urgent")
    complex.wait(low, state="S")
    suspended = f"Suspended for {high}"
    until(lambda: complex.stat(low)["comment"] == suspended, lambda: complex.describe(low))
    complex.api.delete(high)
    until(lambda: complex.stat(low)["comment"].startswith(f"{suspended}; Not Running: PBS Error: "), lambda: complex.describe(low))
    assert "not yet" in complex.stat(low)["comment"]
    other = complex.submit(select="1:ncpus=1:host=n1")  # what is short now is room
    complex.wait(other)
    until(lambda: complex.stat(low)["comment"] == suspended, lambda: complex.describe(low))
    complex.qmgr("set node n2 comment=ready")
    complex.api.delete(other)
    complex.wait(low, state="R")
    complex.qmgr("unset node n2 comment")
    complex.api.delete(low)
    complex.wait_gone(low)
    complex.qmgr("delete queue urgent")


def test_a_start_that_fails_has_the_abort_event_in_place_of_the_end(complex, hooks):
    empty(complex)
    complex.set_server("scheduling", "False")
    hooks.make("no", "execjob_begin", "e.reject('no')")
    hooks.make("abort", "execjob_abort", note(complex, "'abort'"))
    hooks.make("end", "execjob_end", note(complex, "'end'"))
    job = complex.submit("true")
    with pytest.raises(api.PbsError):
        complex.api.run(job, "n1")
    complex.wait(job, state="Q")
    assert marks(complex) == ["abort"]


def test_periodic_hooks_of_a_host_change_its_vnodes_and_make_new_ones(complex, hooks):
    complex.qmgr("create resource gpus_well type=long,flag=nh")
    hooks.make("counts", "exechost_periodic",
               "if pbs.get_local_nodename() == 'n1':\n"
               "    e.vnode_list['n1'].resources_available['gpus_well'] = 3\n"
               "    e.vnode_list['n1.extra'] = pbs.vnode('n1.extra')\n"
               "    e.vnode_list['n1.extra'].resources_available['mem'] = pbs.size('9gb')", freq=1)
    until(lambda: complex.node("n1")["resources_available"].get("gpus_well") == "3", "the resource")
    until(lambda: any(n.name == "n1.extra" for n in complex.api.stat("vnode")), "the vnode")
    assert complex.node("n1.extra")["resources_available"]["mem"] == "9gb"
    complex.wait_log("server", "Updated vnode n1.extra's resource resources_available.mem=9gb per mom hook request")


def test_a_host_says_when_a_hook_of_its_start_has_failed_and_recovered(complex, hooks):
    hooks.make("starts", "exechost_startup", f"import os\nif os.path.exists('{complex.work}/sick'):\n    raise Exception('sick')",
               fail_action="'offline_vnodes,clear_vnodes_upon_recovery'")
    until(lambda: hook_files(complex, "n1") >= {"starts.PY"}, "the hook on its host")
    complex.blank("sick")
    complex.restart("n1")
    until(lambda: "offline" in complex.node("n1").state, "n1 offline")
    os.remove(os.path.join(complex.work, "sick"))
    complex.restart("n1")
    until(lambda: "offline" not in complex.node("n1").state, "n1 free")
    assert "comment" not in complex.node("n1")


def test_a_mom_that_was_away_gets_what_it_has_missed_and_loses_what_is_gone(complex, hooks):
    place = os.path.join(complex.dir, "nodes")
    hooks.make("stays", "execjob_begin", "pass")
    hooks.make("goes", "execjob_begin", "pass")
    until(lambda: hook_files(complex, "n1") >= {"stays.PY", "goes.PY", "goes.HK", "resourcedef"}, f"files below {place}")
    complex.kill("n1")
    complex.set_server("log_events", "2047")
    complex.qmgr("delete hook goes")
    hooks.names.remove("goes")
    hooks.make("new", "execjob_begin", "e.reject('new one')")
    complex.restart("n1")
    until(lambda: hook_files(complex, "n1") == {"stays.PY", "stays.HK", "new.PY", "new.HK", "resourcedef"}, "the files")
    log = complex.log("server")
    assert "successfully sent hook file new.PY to" in log and "successfully deleted hook file goes.HK from" in log
    assert "hook files of mom:n1 mismatched checksums...resending" in log
    complex.set_server("log_events", "511")


def hook_files(cx, name):
    for top, _, files in os.walk(cx.top):
        if top.endswith("mom_priv/hooks") and name in top.split(os.sep):
            return set(files)
    return set()


def mom_worker(cx):
    """The worker of n1 that runs a script now, or None."""
    out = subprocess.run(["pgrep", "-P", str(cx.pid("n1")), "-f", "hook"], capture_output=True, text=True, check=False).stdout
    return int(out.split()[0]) if out.split() else None


@pytest.mark.parametrize("event", ["execjob_begin", "execjob_prologue", "execjob_launch", "execjob_epilogue", "execjob_end"])
def test_a_worker_that_is_killed_in_a_step_harms_neither_host_nor_next_job(complex, hooks, event):
    empty(complex)
    hooks.make("hangs", event, f"import os, time\nif not os.path.exists('{complex.work}/marks'):\n    " +
               note(complex, "'hangs'").replace("\n    ", "\n        ") + "    while True: time.sleep(1)")
    job = complex.submit("true", select="1:ncpus=1:host=n1")
    until(lambda: marks(complex), "the hook")
    os.kill(mom_worker(complex), signal.SIGKILL)
    ended(complex, job)
    status = complex.stat(job)["Exit_status"]
    assert status == ("-17" if event == "execjob_launch" else "0"), status
    assert complex.stat(job)["run_count"] == ("2" if event in ("execjob_begin", "execjob_prologue") else "1")


@pytest.mark.parametrize("event", ["execjob_begin", "execjob_prologue", "execjob_launch", "execjob_epilogue", "execjob_end"])
def test_a_mom_that_is_killed_while_a_hook_runs_runs_the_step_again(complex, hooks, event):
    empty(complex, "marks", "go")
    hooks.make("waits", event, note(complex, "'again'") + f"import os, time\nwhile not os.path.exists('{complex.work}/go'): time.sleep(0.05)")
    job = complex.submit("true", select="1:ncpus=1:host=n1")
    until(lambda: marks(complex) == ["again"], "the hook")
    complex.kill("n1")
    complex.blank("go")
    complex.restart("n1")
    assert ended(complex, job)["Exit_status"] == "0"
    assert marks(complex) == ["again", "again"]


def test_a_hook_that_is_replaced_under_load_runs_whole_with_the_old_or_the_new_script(complex, hooks):
    hooks.make("busy", "execjob_begin", note(complex, "'1'"))
    empty(complex)
    jobs = []
    for i in range(2, 8):
        jobs += [complex.submit("true") for _ in range(4)]
        path = os.path.join(complex.work, "busy.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write("import pbs\ne = pbs.event()\n" + note(complex, f"'{i}'"))
        complex.qmgr(f"import hook busy application/x-python default {path}")
    last = complex.submit("true")
    for job in jobs + [last]:
        assert ended(complex, job)["Exit_status"] == "0"
    assert len(marks(complex)) == len(jobs) + 1 and set(marks(complex)) <= set("1234567")
    assert marks(complex)[-1] == "7", "a job that was submitted after the last import meets the last script"


def test_a_hook_of_user_pbsuser_runs_as_the_owner_of_the_job(complex, hooks):
    empty(complex)
    complex.blank("marks")
    hooks.make("own", "execjob_prologue", "import os\n" + note(complex, "'%d %s' % (os.getuid(), pbs.hook_config_filename is None)") +
               "e.vnode_list['n1'].comment = 'mine'", user="pbsuser")
    job = complex.submit("true", select="1:ncpus=1:host=n1")
    assert ended(complex, job)["Exit_status"] == "0"
    assert marks(complex) == [f"{pwd.getpwnam(users.NAMES[0]).pw_uid} True"]
    assert "comment" not in complex.node("n1")
    complex.wait_log("server", "Node;n1;Not allowed to update vnodes or to request scheduler restart cycle, if run as a non-manager/operator user "
                     f"{users.NAMES[0]}@n1")


def test_a_configuration_file_is_on_the_hosts(complex, hooks):
    with open(os.path.join(complex.work, "c.json"), "w", encoding="ascii") as f:
        f.write('{"limit": 7}')
    empty(complex)
    hooks.make("reads", "execjob_begin", "import json\n" + note(complex, "str(json.load(open(pbs.hook_config_filename))['limit'])"))
    complex.qmgr(f"import hook reads application/x-config default {complex.work}/c.json")
    assert ended(complex, complex.submit("true"))["Exit_status"] == "0"
    assert marks(complex) == ["7"]


def test_the_event_that_no_part_runs_is_refused(complex):
    said = complex.command("qmgr", "-c", "create hook no event=provision", check=False)
    assert said.returncode == 32 and "event provision: vnodes are not provisioned here" in said.stderr


def test_a_host_without_hooks_starts_no_worker(complex):
    assert ended(complex, complex.submit("true", select="1:ncpus=1:host=n2"))["Exit_status"] == "0"
    complex.restart("n2")
    assert ended(complex, complex.submit("true", select="1:ncpus=1:host=n2"))["Exit_status"] == "0"
    assert not subprocess.run(["pgrep", "-P", str(complex.pid("n2")), "-f", "pbs_hook_worker"], check=False, capture_output=True).stdout


def example(cx, hooks, name, event, config, **attrs):
    """A hook of doc/examples/hooks with this configuration."""
    text = open(os.path.join(os.path.dirname(__file__), "..", "..", "..", "doc", "examples", "hooks", name + ".py"), encoding="utf-8").read()
    place = os.path.join(cx.work, name + ".py")
    with open(place, "w", encoding="utf-8") as f:  # with a place of its own: identifiers of jobs are the same in complexes of other tests on this host
        f.write(text.replace("/dev/shm/pbs_jobs", os.path.join(cx.work, "tmpfs")))
    given = "".join(f",{k}={v}" for k, v in attrs.items())
    hooks.names.append(name)
    with open(os.path.join(cx.work, name + ".json"), "w", encoding="utf-8") as f:
        json.dump(config, f)
    cx.qmgr(f"create hook {name} event='{event}'{given}", f"import hook {name} application/x-python default {place}",
            f"import hook {name} application/x-config default {cx.work}/{name}.json")


def configure(cx, name, config):
    with open(os.path.join(cx.work, name + ".json"), "w", encoding="utf-8") as f:
        json.dump(config, f)
    cx.qmgr(f"import hook {name} application/x-config default {cx.work}/{name}.json")


def test_the_example_node_health_sends_the_job_elsewhere_and_the_host_comes_back(complex, hooks):
    example(complex, hooks, "node_health", "execjob_begin,exechost_periodic", {"min_free_mb": {complex.work: 1 << 40}}, freq=1)
    until(lambda: all("offline" in complex.node(n).state for n in ("n1", "n2")), "the hosts offline")
    assert "mb free, needs" in complex.node("n1")["comment"]
    configure(complex, "node_health", {"min_free_mb": {complex.work: 1}})
    until(lambda: all("offline" not in complex.node(n).state for n in ("n1", "n2")), "the hosts free")
    assert ended(complex, complex.submit("true"))["Exit_status"] == "0"
    complex.qmgr("set hook node_health event=execjob_begin")
    configure(complex, "node_health", {"min_free_mb": {complex.work: 1 << 40}})
    job = complex.submit("true", select="1:ncpus=1:host=n1")
    until(lambda: "offline" in complex.node("n1").state, "n1 offline")
    complex.wait(job, state="Q")


def test_the_example_licence_counter_counts_on_its_host(complex, hooks):
    complex.qmgr("create resource solver_licences type=long,flag=h")
    example(complex, hooks, "licence_counter", "exechost_periodic", {"command": ["/bin/echo", "5"], "resource": "solver_licences"}, freq=1)
    until(lambda: complex.node("n2")["resources_available"].get("solver_licences") == "5", "the resource")


def test_the_example_job_tmpfs_gives_a_job_its_own_file_system(complex, hooks):
    complex.qmgr("create resource tmpfs type=size,flag=nh", "set node n1 resources_available.tmpfs=1gb")
    example(complex, hooks, "job_tmpfs", "execjob_begin,execjob_launch,execjob_end", {})
    empty(complex, "where")
    complex.blank("where")
    job = complex.submit(f"stat -f -c %T $JOB_TMPFS > {complex.work}/where; touch $JOB_TMPFS/mine && echo $JOB_TMPFS >> {complex.work}/where",
                         select="1:ncpus=1:tmpfs=16mb:host=n1")
    assert ended(complex, job)["Exit_status"] == "0"
    kind, place = marks(complex, "where")
    assert kind == "tmpfs" and job in place and not os.path.exists(place)


def test_a_vnode_of_another_host_and_what_only_a_host_is_are_not_set(complex, hooks):
    hooks.make("reaches", "exechost_periodic", "if pbs.get_local_nodename() == 'n1':\n    e.vnode_list['n2'] = pbs.vnode('n2')\n"
               "    e.vnode_list['n2'].comment = 'taken'\n    e.vnode_list['n1'].Mom = 'elsewhere'", freq=1)
    until(lambda: "Not allowed to update vnode 'n2', as it is owned by a different mom" in complex.log("server"), "the refusal")
    assert "comment" not in complex.node("n2") and complex.node("n1")["Mom"] != "elsewhere"


def test_a_host_with_reject_root_scripts_takes_no_hooks(complex, hooks):
    config = os.path.join(complex.dir, "mom", "n2", "mom_priv", "config")
    with open(config, encoding="utf-8") as f:
        was = f.read()
    try:
        with open(config, "a", encoding="utf-8") as f:
            f.write("$reject_root_scripts true\n")
        complex.restart("n2")
        hooks.make("kept", "execjob_begin", "e.reject('no')")
        until(lambda: "kept.PY" in hook_files(complex, "n1"), "the hook at the other host")
        until(lambda: "got rejected (mom's reject_root_scripts=1)" in complex.log("server"), "the refusal")
        assert "kept.PY" not in hook_files(complex, "n2")
        assert ended(complex, complex.submit("true", select="1:ncpus=1:host=n2"))["Exit_status"] == "0"
    finally:
        with open(config, "w", encoding="utf-8") as f:
            f.write(was)
        complex.restart("n2")


def test_only_the_configuration_of_a_hook_of_user_pbsuser_can_be_read_by_others(complex, hooks):
    for name, user in (("of_root", "pbsadmin"), ("of_owner", "pbsuser")):
        hooks.make(name, "execjob_prologue", "import json\n" + note(complex, "str(json.load(open(pbs.hook_config_filename)))"), user=user)
        with open(os.path.join(complex.work, name + ".json"), "w", encoding="ascii") as f:
            f.write('{"a": 1}')
        complex.qmgr(f"import hook {name} application/x-config default {complex.work}/{name}.json")
    empty(complex)
    complex.blank("marks")
    assert ended(complex, complex.submit("true", select="1:ncpus=1:host=n1"))["Exit_status"] == "0"
    assert marks(complex) == ["{'a': 1}"] * 2
    place = os.path.join(complex.dir, "mom", "n1", "mom_priv", "hooks")
    assert [os.stat(f"{place}/{name}.CF").st_mode & 0o777 for name in ("of_root", "of_owner")] == [0o600, 0o644]
