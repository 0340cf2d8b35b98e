"""Every name of the module pbs that scripts know, and each event on a desk: what it shows, what may be set, in whose words it refuses."""
import functools
import inspect
import tempfile

import pytest

from harness.hook_desk import desk, package

pbs = package()

FUNCTIONS = """event server logmsg logjobmsg get_local_nodename get_hook_config_file get_pbs_conf get_pbs_server_name
    get_python_daemon_name reboot""".split()
TYPES = """acl args checkpoint depend duration email_list exec_host exec_vnode group_list hold_types job_sort_formula join_path keep_files
    license_count mail_points name node_group_key path path_list place pbs_bool pbs_env pbs_float pbs_int pbs_list pbs_resource pbs_str priority
    project range route_destinations sandbox select server_state size software staging_list state_count user_list vchunk version vnode_state
    vnode_sharing vnode_ntype queue_type job_state job queue resv vnode server_attribute management""".split()
ERRORS = {"BadAttributeValueError": ValueError, "BadAttributeValueTypeError": TypeError, "BadResourceValueError": ValueError,
          "BadResourceValueTypeError": TypeError, "UnsetAttributeNameError": AttributeError, "UnsetResourceNameError": KeyError,
          "EventIncompatibleError": AttributeError}
EVENTS = {
    "queuejob": 0x1, "modifyjob": 0x2, "resvsub": 0x4, "movejob": 0x8, "runjob": 0x10, "provision": 0x20, "execjob_begin": 0x40,
    "execjob_prologue": 0x80, "execjob_epilogue": 0x100, "execjob_end": 0x200, "execjob_preterm": 0x400, "execjob_launch": 0x800,
    "exechost_periodic": 0x1000, "exechost_startup": 0x2000, "execjob_attach": 0x4000, "periodic": 0x8000, "resv_end": 0x10000,
    "execjob_resize": 0x20000, "execjob_abort": 0x40000, "execjob_postsuspend": 0x80000, "execjob_preresume": 0x100000,
    "management": 0x200000, "modifyvnode": 0x400000, "jobobit": 0x800000, "resv_begin": 0x1000000, "resv_confirm": 0x2000000,
    "modifyresv": 0x4000000, "postqueuejob": 0x8000000}
CONSTANTS = {
    "JOB_STATE_": "TRANSIT QUEUED HELD WAITING RUNNING EXITING EXPIRED BEGUN SUSPEND SUSPEND_USERACTIVE MOVED FINISHED",
    "SV_STATE_": "IDLE ACTIVE HOT SHUTDEL SHUTIMM SHUTSIG",
    "RESV_STATE_": "NONE UNCONFIRMED CONFIRMED WAIT TIME_TO_RUN RUNNING FINISHED BEING_DELETED DELETED DELETING_JOBS DEGRADED BEING_ALTERED IN_CONFLICT",
    "QTYPE_": "EXECUTION ROUTE",
    "ND_": "FREE OFFLINE DOWN STALE JOBBUSY JOB_EXCLUSIVE RESV_EXCLUSIVE BUSY PROV WAIT_PROV UNRESOLVABLE SLEEP PBS DEFAULT_SHARED DEFAULT_EXCL "
           "FORCE_EXCL IGNORE_EXCL FORCE_EXCLHOST DEFAULT_EXCLHOST",
    "ND_STATE_": "FREE OFFLINE DOWN STALE JOBBUSY JOB_EXCLUSIVE RESV_EXCLUSIVE BUSY PROV WAIT_PROV UNRESOLVABLE SLEEP UNKNOWN INIT NEEDS_HELLOSVR "
                 "OFFLINE_BY_MOM MARKEDDOWN NEED_ADDRS MAINTENANCE NEED_CREDENTIALS VNODE_UNAVAILABLE",
    "MGR_CMD_": "CREATE DELETE SET UNSET LIST PRINT ACTIVE IMPORT EXPORT", "MGR_OBJ_": "SERVER QUEUE NODE RSC SCHED HOOK PBS_HOOK HOST",
    "BRP_CHOICE_": "NULL Queue RdytoCom Commit Select Status Text Locate RescQuery PreemptJobs",
    "BATCH_OP_": "SET UNSET INCR DECR EQ NE GE GT LE LT",
    "ATR_VFLAG_": "USER_READ USER_WRITE",
    "LOG_": "DEBUG WARNING ERROR",
    "EVENT_": "ERROR SYSTEM ADMIN JOB JOB_USAGE SECURITY SCHED DEBUG DEBUG2 RESV DEBUG3 DEBUG4 FORCE",
}
REVERSE = {"MGR_CMDS": "MGR_CMD_", "MGR_OBJS": "MGR_OBJ_", "BRP_CHOICES": "BRP_CHOICE_", "BATCH_OPS": "BATCH_OP_", "ATR_VFLAGS": "ATR_VFLAG_",
           "NODE_STATE": "ND_STATE_", "JOB_STATE": "JOB_STATE_", "JOB_SUBSTATE": "JOB_SUBSTATE_", "RESV_STATE": "RESV_STATE_", "HOOK_EVENT": "HOOK_EVENT_"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_there_and_says_what_it_is(name):
    assert inspect.isfunction(getattr(pbs, name)) and getattr(pbs, name).__doc__ and name in pbs.__all__


@pytest.mark.parametrize("name", TYPES)
def test_a_type_is_there_and_says_what_it_is(name):
    assert inspect.isclass(getattr(pbs, name)) and getattr(pbs, name).__doc__ and name in pbs.__all__


@pytest.mark.parametrize("name", ERRORS)
def test_an_exception_is_one_of_pythons_kind(name):
    assert issubclass(getattr(pbs, name), ERRORS[name])


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_has_its_bit_under_both_names(event):
    assert getattr(pbs, event.upper()) == getattr(pbs, "HOOK_EVENT_" + event.upper()) == EVENTS[event]
    assert bool(pbs.MOM_EVENTS & EVENTS[event]) == event.startswith("exec")


@pytest.mark.parametrize("prefix, word", [(prefix, word) for prefix, words in CONSTANTS.items() for word in words.split()])
def test_a_constant_is_there(prefix, word):
    assert isinstance(getattr(pbs, prefix + word), int) and prefix + word in pbs.__all__


@pytest.mark.parametrize("name", REVERSE)
def test_a_dictionary_leads_back_from_each_value(name):
    back = getattr(pbs, "REVERSE_" + name)
    assert back and all(word.startswith(REVERSE[name]) and getattr(pbs, word) == value for value, word in back.items())


def test_variables_of_the_hook_that_runs_are_names_of_the_module():
    assert "hook_config_filename" in pbs.__all__ and "pbs_conf" in pbs.__all__
    with pytest.raises(AttributeError, match="module 'pbs' has no attribute 'nonsense'"):
        pbs.nonsense


# ---- each event on a desk ----

COMMON = ("type", "hook_name", "hook_type", "requestor", "requestor_host")
JOB, ALL_LISTS = ("job", "vnode_list"), ("job", "vnode_list", "vnode_list_fail")
MEMBERS = {
    "queuejob": ("job",), "postqueuejob": ("job",), "modifyjob": ("job", "job_o"), "movejob": ("job", "src_queue"), "runjob": ("job",), "jobobit": ("job",),
    "resvsub": ("resv",), "resv_confirm": ("resv",), "resv_begin": ("resv",), "resv_end": ("resv",), "modifyresv": ("resv", "resv_o"),
    "management": ("management",), "modifyvnode": ("vnode", "vnode_o"), "periodic": ("vnode_list", "resv_list", "freq"), "provision": ("vnode", "aoe"),
    "execjob_begin": JOB, "execjob_epilogue": JOB, "execjob_end": JOB, "execjob_abort": JOB, "execjob_preterm": JOB, "execjob_postsuspend": JOB,
    "execjob_preresume": JOB, "execjob_resize": JOB, "execjob_prologue": ALL_LISTS, "execjob_launch": ALL_LISTS + ("progname", "argv", "env"),
    "execjob_attach": JOB + ("pid",), "exechost_startup": ("vnode_list",), "exechost_periodic": ("vnode_list", "job_list", "freq"),
}
EVERY = sorted({name for names in MEMBERS.values() for name in names} | set(COMMON) | {"alarm", "debug", "user", "order", "enabled", "fail_action", "nonsense"})
WRITABLE = ("progname", "argv", "env")

READONLY, PART = "BadAttributeValueError: job attribute '%s' is readonly", "BadAttributeValueError: attribute '%s' is part of a readonly object"
UNDER = "AssertionError: Can only set job,resource attributes under %s event."
MOVE = "AssertionError: Can only set job's 'queue' attribute under MOVEJOB event - got %s"
RUN = ("AssertionError: Can only set job's (Hold_Types,Execution_Time,project,Error_Path,Output_Path,Resource_List,Variable_List,depend,create_resv_from_job) "
       "attribute, or a vnode's (state) attribute under RUNJOB event - got %s")
NOTHING = "AssertionError: nothing is settable inside an %s hook!"
SETTABLE = [  # attribute of the event's job, a value of it
    ("Priority", "5"), ("Hold_Types", "'u'"), ("project", "'p'"), ("Execution_Time", "1800000000"), ("Output_Path", "'h:/o'"), ("Account_Name", "'a'"),
    ("queue", "'q'"), ("depend", "'afterok:1.svr'"), ("substate", "42"), ("ctime", "5"), ("exec_host", "'n1/0'"), ("nonsense", "1"),
]
RUNJOB_MAY = ("Hold_Types", "project", "Execution_Time", "Output_Path", "depend")
SERVER_ONLY = ("substate", "ctime", "exec_host")


def refusal(event, attr):
    """What an event says of setting an attribute of its job; "": it does it."""
    if event in ("execjob_attach", "execjob_resize") and attr != "nonsense":
        return NOTHING % event
    if event == "jobobit" and attr != "nonsense":
        return PART % attr
    if attr == "nonsense":
        return "UnsetAttributeNameError: job attribute 'nonsense' not found"
    if event == "movejob":
        return "" if attr == "queue" else MOVE % attr
    if event == "runjob":
        return "" if attr in RUNJOB_MAY else RUN % attr
    if attr in SERVER_ONLY or (attr == "queue" and event not in ("queuejob", "postqueuejob")):
        return READONLY % attr
    return ""


WITH_JOB = [event for event, names in MEMBERS.items() if "job" in names]
DATA = {"job": "pbs.event().job.id=1.svr\npbs.event().job.queue=workq\n", "resv": "pbs.event().resv.resvid=R1.svr\n",
        "vnode_list": 'pbs.event().vnode_list["n1"].state=0\n'}
HEAD = "import pbs\ne = pbs.event()\nsaid = []\ndef tried(name, do):\n    try:\n        do()\n    except Exception as why:\n" \
       "        said.append('%s %s: %s' % (name, type(why).__name__, why))\n    else:\n        said.append('%s ' % name)\n"
TAIL = "\nfor line in said:\n    pbs.logmsg(pbs.LOG_DEBUG, 'TRIED ' + line)\n"


PROBES = []  # for each group of tests: its name, and a function that gives (name, statement) for an event


def probe(group):
    def keep(make):
        PROBES.append((group, make))
        return make
    return keep


@functools.lru_cache(maxsize=None)
def all_of(event):
    """What each statement raises on a desk, by group and name; one run for all of an event."""
    lines = [(f"{group}/{name}", statement) for group, make in PROBES for name, statement in make(event)]
    script = HEAD + "".join(f"def do_{i}():\n    {statement}\ntried({name!r}, do_{i})\n" for i, (name, statement) in enumerate(lines)) + TAIL
    data = "".join(text for member, text in DATA.items() if member in MEMBERS[event])
    with tempfile.TemporaryDirectory() as tmp:
        done = desk(tmp, script, event, data, server="pbs.server().queue(q).enabled=True\npbs.server().vnode(n1).state=free\n")
    assert done.status == 0, done.log
    return dict(line.split(";TRIED ", 1)[1].split(" ", 1) for line in done.log.splitlines() if ";TRIED " in line)


def tried(group, event):
    return {name.partition("/")[2]: said for name, said in all_of(event).items() if name.startswith(group + "/")}


HOSTS_MAY = [("rerun", "e.job.rerun()"), ("delete", "e.job.delete()"), ("restart", "pbs.server().scheduler_restart_cycle()")]


@probe("shows")
def _shows(event):
    return [(name, f"e.{name}") for name in EVERY]


@probe("assigns")
def _assigns(event):
    return [(name, f"e.{name} = e.{name}" if name in COMMON + MEMBERS[event] else f"e.{name} = 1") for name in EVERY]


@probe("job")
def _job(event):
    return [(attr, f"e.job.{attr} = {value}") for attr, value in SETTABLE] if "job" in MEMBERS[event] else []


@probe("vnode")
def _vnode(event):
    return [("state", "e.vnode_list['n1'].state = pbs.ND_OFFLINE"), ("comment", "e.vnode_list['n1'].comment = 'x'"),
                             ("mem", "e.vnode_list['n1'].resources_available['mem'] = pbs.size('1gb')"),
                             ("new", "e.vnode_list['new'] = pbs.vnode('new')"), ("whole", "e.vnode_list['n1'].resources_available = {}"),
                             ("nonsense", "e.vnode_list['n1'].nonsense = 1"), ("server", "pbs.server().vnode('n1').comment = 'x'")] if "vnode_list" in MEMBERS[event] else []


@probe("resv")
def _resv(event):
    return [("Reserve_Name", "e.resv.Reserve_Name = 'x'"), ("Authorized_Groups", "e.resv.Authorized_Groups = None"),
                             ("ctime", "e.resv.ctime = None"), ("nonsense", "e.resv.nonsense = 1")] if "resv" in MEMBERS[event] else []


@probe("host")
def _host(event):
    return HOSTS_MAY + [("ms", "assert e.job.in_ms_mom() in (True, False)"), ("ckpt", "assert e.job.is_checkpointed() is False"),
                                         ("out", "e.job.stdout_file()"), ("err", "e.job.stderr_file()"), ("failed", "list(e.job.failed_mom_list)"),
                                         ("good", "list(e.job.succeeded_mom_list)")] if "job" in MEMBERS[event] and event.startswith("exec") else []


@pytest.mark.parametrize("event", MEMBERS)
def test_an_event_shows_its_members_and_no_other(event):
    got = tried("shows", event)
    shown = COMMON + MEMBERS[event]
    assert got == {name: "" if name in shown else f'EventIncompatibleError: "{name}" not found in self._param' for name in EVERY}


@pytest.mark.parametrize("event", MEMBERS)
def test_members_of_an_event_cannot_be_assigned_but_for_those_of_a_launch(event):
    got = tried("assigns", event)
    for name in EVERY:
        if name not in COMMON + MEMBERS[event]:
            assert got[name] == f"UnsetAttributeNameError: event attribute '{name}' not found"
        elif name in WRITABLE:
            assert got[name] == ""
        else:
            assert got[name] == f"BadAttributeValueError: event attribute '{name}' is readonly"


@pytest.mark.parametrize("event", WITH_JOB)
def test_an_event_sets_of_its_job_what_its_table_says(event):
    got = tried("job", event)
    assert got == {attr: refusal(event, attr) for attr, _ in SETTABLE}


VNODES = [event for event, names in MEMBERS.items() if "vnode_list" in names]


@pytest.mark.parametrize("event", VNODES)
def test_an_event_sets_vnodes_of_its_list_unless_it_only_looks(event):
    got = tried("vnode", event)
    looks = NOTHING % event if event in ("execjob_attach", "execjob_resize") else ""
    assert (got["state"], got["comment"], got["mem"]) == (looks, looks, looks)
    assert got["nonsense"] == "UnsetAttributeNameError: vnode attribute 'nonsense' not found"
    assert got["whole"].startswith("AssertionError: can't set the head resource 'resources_available' directly")
    assert got["server"] == PART % "comment" and got["new"] == ""


RESVS = {"resvsub": "", "modifyresv": "", "resv_confirm": PART, "resv_begin": PART, "resv_end": PART}


@pytest.mark.parametrize("event", RESVS)
def test_an_event_sets_of_its_reservation_what_its_table_says(event):
    got = tried("resv", event)
    may = RESVS[event]
    assert got["Reserve_Name"] == (may % "Reserve_Name" if may else "") and got["Authorized_Groups"] == (may % "Authorized_Groups" if may else "")
    assert got["ctime"] == (may % "ctime" if may else "BadAttributeValueError: resv attribute 'ctime' is readonly")
    assert got["nonsense"] == "UnsetAttributeNameError: resv attribute 'nonsense' not found"




@pytest.mark.parametrize("event", [event for event in WITH_JOB if event.startswith("exec")])
def test_a_hook_of_a_host_asks_for_ends_and_cycles(event):
    got = tried("host", event)
    assert set(got.values()) == {""}, got


@pytest.mark.parametrize("event", ["queuejob", "runjob", "modifyjob", "jobobit"])
def test_a_hook_of_the_server_cannot_end_a_job_nor_boot_a_host(tmp, event):
    done = desk(tmp, "import pbs\ne = pbs.event()\ne.job.rerun()\ne.job.delete()\npbs.server().scheduler_restart_cycle()\npbs.reboot()\n", event, DATA["job"])
    assert "rerun() of a job is for hooks of execution hosts" in done.log and "delete() of a job is for hooks of execution hosts" in done.log
    assert done.status == 254 and "RuntimeError: reboot() is for hooks of execution hosts" in done.log


@pytest.fixture
def tmp(tmp_path):
    return str(tmp_path)
