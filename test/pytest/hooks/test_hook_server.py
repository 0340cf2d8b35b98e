"""Scripts as sites have them, in a real server: the examples, and what a script may say of types, objects and events."""
import json
import os
import subprocess

import pytest

from harness import users
from harness.api import PbsError
from harness.wait import until

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "..", "doc", "examples", "hooks")

pytestmark = pytest.mark.complex(nodes=0, sched=False)


@pytest.fixture
def hook(complex):
    """hook(event, script text or example's name, config=..., attributes): a hook until the end of the test."""
    names = []

    def make(event, script, config=None, **attrs):
        name = f"h{len(names)}"
        path = os.path.join(EXAMPLES, script + ".py")
        if not os.path.exists(path):
            path = write(complex, name + ".py", "import pbs\ne = pbs.event()\n" + script)
        given = "".join(f",{key}={value}" for key, value in attrs.items())
        complex.qmgr(f"create hook {name} event='{event}'{given}", f"import hook {name} application/x-python default {path}")
        if config is not None:
            complex.qmgr(f"import hook {name} application/x-config default {write(complex, name + '.json', json.dumps(config))}")
        names.append(name)
        return name

    yield make
    for name in names:
        complex.qmgr(f"delete hook {name}")


def write(cx, name, text):
    path = os.path.join(cx.work, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def qsub(cx, *options, user=None):
    return cx.command("qsub", "-h", *options, cx.script("true"), user=user, check=False)


def submitted(cx, *options, user=None):
    done = qsub(cx, *options, user=user)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def job(cx, jobid):
    return cx.api.stat("job", jobid)[0]


def says(cx, hook, expression, event="queuejob", *options):
    """What an expression of a hook is, by its rejection."""
    hook(event, f"j = e.job\nsaid = {expression}\ne.reject(str(said))\n")
    return qsub(cx, *options).stderr.removeprefix("qsub: ").removesuffix("\n")


WHO = pytest.mark.parametrize("user", [users.NAMES[0], None], ids=["user", "administrator"])


@WHO
def test_need_walltime_tells_how_to_give_one(complex, hook, user):
    hook("queuejob,modifyjob", "need_walltime")
    done = qsub(complex, user=user)
    assert done.returncode == 32 and "qsub -l walltime=2:00:00" in done.stderr
    jobid = submitted(complex, "-l", "walltime=10", user=user)
    complex.command("qalter", "-l", "walltime=20", jobid, user=user)
    assert job(complex, jobid)["Resource_List"]["walltime"] == "00:00:20"


@WHO
def test_project_by_group_moves_a_job_to_the_queue_of_its_group(complex, hook, user):
    if not any(q.name == "chemq" for q in complex.api.stat("que")):
        complex.make_queue("chemq")
    group = subprocess.run(["id", "-gn", *([user] if user else [])], capture_output=True, text=True, check=True).stdout.strip()
    hook("queuejob", "project_by_group", {group: {"project": "chemistry", "queue": "chemq"}})
    found = job(complex, submitted(complex, "-P", "mine", user=user))
    assert (found["project"], found["queue"]) == ("chemistry", "chemq")


@WHO
def test_project_by_group_refuses_groups_without_a_rule(complex, hook, user):
    hook("queuejob", "project_by_group", {})
    assert "may submit jobs" in qsub(complex, user=user).stderr


@WHO
def test_defaults_by_queue_fills_in_what_is_missing(complex, hook, user):
    if not any(q.name == "short" for q in complex.api.stat("que")):
        complex.make_queue("short")
    hook("queuejob", "defaults_by_queue")
    found = job(complex, submitted(complex, "-q", "short", "-l", "mem=5mb", user=user))["Resource_List"]
    assert (found["walltime"], found["mem"]) == ("00:30:00", "5mb")


READ = [
    # expression, options of qsub, said
    ("j.Resource_List['select'], j.Resource_List['place']", ("-l", "select=2:ncpus=1", "-l", "place=scatter"), "('2:ncpus=1', 'scatter')"),
    ("type(j.Resource_List['select']).__name__, type(j.Hold_Types).__name__, type(j.Variable_List).__name__", ("-l", "select=1"), "('select', 'hold_types', '_tracked_env')"),
    ("j.Resource_List['walltime'] > pbs.duration('59'), int(j.Resource_List['walltime'])", ("-l", "walltime=1:00"), "(True, 60)"),
    ("j.Resource_List['mem'] == pbs.size('1024mb')", ("-l", "mem=1gb"), "True"),
    ("j.Job_Name, j.Priority, j.Rerunable, j.Keep_Files, j.Join_Path", ("-N", "x", "-p", "7", "-r", "n", "-k", "oe", "-j", "oe"), "('x', 7, False, 'oe', 'oe')"),
    ("j.Variable_List['MINE']", ("-v", "MINE=a b"), "a b"),
    ("j.depend is None, j.Account_Name", ("-A", "acc"), "(True, 'acc')"),
    ("j.Mail_Points, j.Mail_Users", ("-m", "be", "-M", "a@site.org"), "('be', 'a@site.org')"),
    ("j.array_indices_submitted", ("-J", "1-9:2"), "1-9:2"),
    ("e.requestor == __import__('pwd').getpwuid(%d).pw_name and e.type is pbs.QUEUEJOB" % os.geteuid(), (), "True"),
    ("pbs.server().default_queue, pbs.server().scheduling, pbs.get_pbs_server_name() == pbs.server().name", (), "('workq', True, True)"),
    ("[q.name for q in pbs.server().queues() if q.name == 'workq'], pbs.server().queue('workq').enabled, pbs.server().queue('nonsense')", (), "(['workq'], True, None)"),
    ("pbs.server().queue('workq').queue_type == pbs.QTYPE_EXECUTION", (), "True"),
    ("pbs.get_local_nodename() == __import__('socket').gethostname().split('.')[0]", (), "True"),
    ("pbs.hook_config_filename", (), "None"),
]


@pytest.mark.parametrize("expression, options, said", READ, ids=[str(i) for i in range(len(READ))])
def test_a_script_reads_the_attributes_of_a_submission(complex, hook, expression, options, said):
    assert says(complex, hook, expression, "queuejob", *options) == said


SET = [
    # statement, attribute, resource, shown
    ("j.Hold_Types = pbs.hold_types('uo')", "Hold_Types", None, "uo"), ("j.Priority = 12", "Priority", None, "12"), ("j.Rerunable = False", "Rerunable", None, "False"),
    ("j.Resource_List['walltime'] = 90", "Resource_List", "walltime", "00:01:30"), ("j.Resource_List['mem'] = pbs.size('1gb') + pbs.size('512mb')", "Resource_List", "mem", "1536mb"),
    ("j.Resource_List['select'] = pbs.select('2:ncpus=3')", "Resource_List", "ncpus", "6"), ("j.Resource_List['select'] = '1:ncpus=1'; j.Resource_List['place'] = pbs.place('pack:excl')", "Resource_List", "place", "pack:excl"),
    ("j.Account_Name = 'acc'", "Account_Name", None, "acc"), ("j.Mail_Points = pbs.mail_points('ae')", "Mail_Points", None, "ae"),
    ("j.Execution_Time = 4000000000", "Execution_Time", None, "4000000000"), ("j.project = 'proj'", "project", None, "proj"), ("j.Keep_Files = pbs.keep_files('oe')", "Keep_Files", None, "oe"),
    ("j.comment = 'of the hook'", "comment", None, "of the hook"), ("j.Mail_Users = pbs.email_list('a@b,c@d')", "Mail_Users", None, "a@b,c@d"),
    ("j.Checkpoint = pbs.checkpoint('c=10')", "Checkpoint", None, "c=10"), ("j.Shell_Path_List = pbs.path_list('/bin/sh')", "Shell_Path_List", None, "/bin/sh"),
    ("j.stagein = pbs.staging_list('a@h:/b')", "stagein", None, "a@h:/b"), ("j.Output_Path = 'h:/tmp/here'", "Output_Path", None, "h:/tmp/here"),
]


@pytest.mark.parametrize("statement, attr, resource, shown", SET, ids=[row[0] for row in SET])
def test_a_job_has_the_attributes_that_a_script_set(complex, hook, statement, attr, resource, shown):
    hook("queuejob", "j = e.job\n" + statement + "\n")
    value = job(complex, submitted(complex))[attr]
    value = value[resource] if resource else value
    assert value == shown


def test_a_hook_that_asks_a_wrong_member_can_refuse_with_its_own_words(complex, hook):
    jobid = submitted(complex, "-p", "1")
    hook("modifyjob", "try:\n    e.resv\nexcept pbs.EventIncompatibleError:\n    e.reject('Event is incompatible')\n")
    done = complex.command("qalter", "-p", "5", jobid, check=False)
    assert done.returncode != 0 and done.stderr == f"qalter: Event is incompatible {jobid}\n" and job(complex, jobid)["Priority"] == "1"


def test_a_resource_of_a_request_is_unset_by_none(complex, hook):
    jobid = submitted(complex, "-l", "walltime=100")
    hook("modifyjob", "e.job.Resource_List['walltime'] = None\n")
    complex.command("qalter", "-l", "walltime=200", jobid)
    assert "walltime" not in job(complex, jobid)["Resource_List"]


def test_a_value_that_is_no_number_is_an_exception_of_the_script(complex, hook):
    hook("queuejob", "e.job.Resource_List['ncpus'] = 'abc'\n")
    assert "encountered an exception. Please inform Admin" in qsub(complex).stderr
    complex.wait_log("server", "<class 'ValueError'>")


def test_jobs_of_many_pages_are_each_seen_once(complex, hook):
    made = {submitted(complex, "-N", "paged") for _ in range(2)} | {complex.submit(Hold_Types="u", Job_Name="paged") for _ in range(128)}
    hook("queuejob", "found = [j.id for j in pbs.server().jobs() if j.Job_Name == 'paged']\ne.reject('%d %d' % (len(found), len(set(found))))\n")
    assert qsub(complex).stderr == f"qsub: {len(made)} {len(made)}\n"


def test_a_resource_that_is_made_later_is_known_to_workers_that_run(complex, hook):
    hook("queuejob", "e.accept()\n")
    submitted(complex)
    complex.qmgr("create resource later type=long")
    hook("queuejob", "e.job.Resource_List['later'] = 5\n")
    assert job(complex, submitted(complex))["Resource_List"]["later"] == "5"


def test_a_configuration_is_named_by_module_and_environment(complex, hook):
    name = hook("queuejob", "import json, os\nwith open(pbs.hook_config_filename) as f:\n    e.reject('%s %s' % (json.load(f)['key'], os.environ['PBS_HOOK_CONFIG_FILE']))\n",
                {"key": "value"})
    assert qsub(complex).stderr == f"qsub: value {complex.home}/server_priv/hooks/{name}.CF\n"


def test_debug_keeps_files_that_run_again_on_a_desk(complex, hook):
    name = hook("queuejob", "e.job.Priority = 3\ne.reject('%s %s' % (e.job.queue.name, pbs.server().queue('workq').enabled))\n", debug="true")
    assert qsub(complex).stderr == "qsub: workq True\n"
    tmp = f"{complex.home}/server_priv/hooks/tmp"
    kept = {file.rsplit(".", 1)[1]: f"{tmp}/{file}" for file in os.listdir(tmp) if file.startswith(f"hook_queuejob_{name}_")}
    assert set(kept) == {"in", "data", "out"}
    done = complex.command("pbs_python", "--hook", "-e", "queuejob", "-i", kept["in"], "-s", kept["data"], f"{complex.work}/{name}.py")
    assert "pbs.event().reject_msg=workq True" in done.stdout


def test_every_attribute_of_every_object_can_be_read(complex, hook):
    submitted(complex, "-l", "select=1:ncpus=1:mem=1gb", "-l", "place=free", "-J", "1-3", "-M", "a@b", "-v", "A=b")
    complex.qmgr("create node unknown_host")
    hook("queuejob", "s = pbs.server()\nfor o in [s, e.job, *s.queues(), *s.jobs(), *s.vnodes()]:\n    assert len(o.attributes) > 30, o\n"
         "    for a in o.attributes:\n        str(getattr(o, a))\ne.reject('read')\n")
    assert qsub(complex).stderr == "qsub: read\n"


def runjob_hook(cx, text):
    """A hook `sets` with this script, of a complex that has no other."""
    path = write(cx, "sets.py", "import pbs\ne = pbs.event()\n" + text)
    cx.qmgr("create hook sets event=runjob", f"import hook sets application/x-python default {path}")


@pytest.mark.complex(nodes=1)
def test_a_runjob_hook_takes_a_vnode_out_of_service(cx):
    node = cx.api.stat("vnode")[0].name
    runjob_hook(cx, "name = e.job.exec_vnode.chunks[0].vnode_name\npbs.server().vnode(name).state = pbs.ND_OFFLINE\n"
                    "e.reject('%s is broken' % name)\n")
    jobid = cx.submit()
    until(lambda: job(cx, jobid).get("comment", "").startswith("Not Running"), "the rejection")
    assert cx.api.stat("vnode", node)[0]["state"] == "offline" and job(cx, jobid)["job_state"] == "Q"


@pytest.mark.complex(nodes=1, sched=False)
@pytest.mark.parametrize("attribute, text", [("project", "e.job.project = 'other'"), ("Hold_Types", "e.job.Hold_Types = pbs.hold_types('u')")])
def test_a_runjob_hook_that_accepts_may_not_set_what_a_running_job_cannot_have(cx, attribute, text):
    runjob_hook(cx, text + "\n")
    jobid = cx.submit()
    with pytest.raises(PbsError) as refused:
        cx.api.run(jobid, "(n1:ncpus=1)")
    assert (refused.value.code, refused.value.text) == (
        15136, f"runjob request rejected by 'sets': cannot modify {attribute} after runjob request has been accepted.")
    assert job(cx, jobid)["job_state"] == "Q" and job(cx, jobid)["project"] == "_pbs_project_default"


@pytest.mark.complex(nodes=1, sched=False)
def test_a_runjob_hook_that_rejects_says_in_the_log_what_it_may_not_set(cx):
    runjob_hook(cx, "e.job.Output_Path = ':/tmp/elsewhere'\ne.job.project = 'other'\ne.reject('no')\n")
    jobid = cx.submit()
    with pytest.raises(PbsError, match="no"):
        cx.api.run(jobid, "(n1:ncpus=1)")
    assert job(cx, jobid)["project"] == "other" and "elsewhere" not in job(cx, jobid)["Output_Path"]
    cx.wait_log("server", f"{jobid};'sets' hook: cannot modify job attribute 'Output_Path' after runjob request has been rejected.")
