"""Hook scripts with pbs_python --hook: events, what may be set in each, exceptions, files. No complex."""
import os
import random
import subprocess

import pytest

from harness.hook_desk import desk, package

pbs = package()

JOB = """pbs.event().job.queue=workq
pbs.event().job.Job_Name=STDIN
pbs.event().job.Resource_List[ncpus]=2
pbs.event().job.Resource_List[walltime]=00:10:00
pbs.event().job.Variable_List=A=1,B=x\\,y
"""
HEAD = "import pbs\ne = pbs.event()\n"


@pytest.fixture
def tmp(tmp_path):
    return str(tmp_path)


def run(tmp, body, event="queuejob", data=JOB, **more):
    return desk(tmp, HEAD + body, event, data, **more)


def error_of(tmp, statement, event="queuejob", data=JOB, **more):
    """The exception of a statement as `Type: text`."""
    done = run(tmp, f"try:\n    {statement}\nexcept BaseException as x:\n    pbs.logmsg(pbs.LOG_DEBUG, 'got %s: %s' % (type(x).__name__, x))\n", event, data, **more)
    assert done.status == 0, (done.log, done.stderr)
    found = [line.partition("got ")[2] for line in done.log.splitlines() if ";got " in line]
    return found[0] if found else None


def test_a_job_without_walltime_is_rejected_with_the_text(tmp):
    script = "if e.job.Resource_List['walltime'] is None:\n    e.reject('no walltime')\ne.accept()\n"
    without = run(tmp, script, data="pbs.event().job.queue=workq\n")
    assert (without.status, without.accepted, without.message) == (0, False, "no walltime")
    assert run(tmp, script).accepted


def test_reject_without_words_has_no_message(tmp):
    done = run(tmp, "e.reject()")
    assert not done.accepted and done.message is None and done.status == 0


def test_the_end_of_a_script_and_its_exit_are_accepts(tmp):
    assert run(tmp, "").accepted and run(tmp, "import sys; sys.exit(3)").accepted


def test_a_script_that_raises_exits_with_254_and_is_told_of_in_the_log(tmp):
    done = run(tmp, "e.job.Priority = 3\nraise Exception('x')\n")
    assert done.status == 254 and not done.changes()
    assert "(15011) in Error evaluating Python script, <class 'Exception'>" in done.log
    assert "(15011) in Error evaluating Python script, x" in done.log and 'raise Exception' not in done.stderr


def test_an_alarm_ends_the_script_with_253(tmp):
    done = run(tmp, "import signal\nsignal.pause()\n", data=JOB + "pbs.event().alarm=1\n")
    assert done.status == 253 and "Hook;catch_hook_alarm;alarm call received" in done.log
    assert "Python script received a KeyboardInterrupt, <class 'KeyboardInterrupt'>" in done.log


def test_a_place_that_cannot_be_read_raises(tmp):
    done = run(tmp, "e.resv.Resource_List['place'] = pbs.place('pack:freed')", "resvsub", "pbs.event().resv.Reserve_Name=r\n")
    assert done.status == 254 and "BadAttributeValueError" in done.log


def test_attributes_that_a_script_sets_are_in_the_output(tmp):
    done = run(tmp, """
e.job.Resource_List['mem'] = pbs.size('1gb') + pbs.size('512mb')
e.job.Resource_List['ncpus'] = None
e.job.Variable_List['X'] = 'a,b'
e.job.Priority = 5
e.job.Hold_Types = pbs.hold_types('u')
e.job.Account_Name = None
e.job.queue = pbs.server().queue('other')
""", server="pbs.server().queue(other).enabled=True\n")
    assert done.changes() == {
        'pbs.event().job.Resource_List["mem"]': "1536mb", 'pbs.event().job.Resource_List["ncpus"]': "", 'pbs.event().job.Variable_List["X"]': "a,b",
        "pbs.event().job.Priority": "5", "pbs.event().job.Hold_Types": "u", "pbs.event().job.Account_Name": "", "pbs.event().job.queue": "other"}


def test_a_rejected_server_event_has_no_changes_and_a_rejected_runjob_has(tmp):
    assert not run(tmp, "e.job.Priority = 5\ne.reject('no')").changes()
    assert run(tmp, "e.job.Hold_Types = 'u'\ne.reject('no')", "runjob").changes() == {"pbs.event().job.Hold_Types": "u"}


READ = [
    ("e.job.Job_Name == 'STDIN' and e.job.queue.name == 'workq' and e.job.id is None", "queuejob"),
    ("e.job.Resource_List['ncpus'] == 2 and e.job.Resource_List['walltime'] == 600 and e.job.Resource_List['mem'] is None", "queuejob"),
    ("e.job.Variable_List['B'] == 'x,y' and 'C' not in e.job.Variable_List", "queuejob"),
    ("e.job.Priority is None and e.job.Execution_Time is None and e.job.resv is None", "queuejob"),
    ("e.type == pbs.QUEUEJOB == pbs.HOOK_EVENT_QUEUEJOB and e.hook_name == 'h' and e.hook_type == 'site'", "queuejob"),
    ("sorted(e.job.Resource_List.keys()) == ['ncpus', 'walltime']", "queuejob"),
    ("not hasattr(e.job, 'nonsense') and hasattr(e.job, 'Priority') and not hasattr(e, 'vnode_list')", "queuejob"),
]


@pytest.mark.parametrize("condition, event", READ)
def test_a_script_reads_the_attributes_of_its_event(tmp, condition, event):
    assert run(tmp, f"e.accept() if {condition} else e.reject('not so')", event).accepted


REFUSED = [
    ("queuejob", "e.job.substate = 10", "BadAttributeValueError: job attribute 'substate' is readonly"),
    ("postqueuejob", "e.job.substate = 10", "BadAttributeValueError: job attribute 'substate' is readonly"),
    ("queuejob", "e.job.nonsense = 1", "UnsetAttributeNameError: job attribute 'nonsense' not found"),
    ("queuejob", "e.job.nonsense", "UnsetAttributeNameError: job attribute 'nonsense' not found"),
    ("queuejob", "e.job.Resource_List['nonsense'] = 1", "UnsetResourceNameError: resource attribute 'nonsense' not found"),
    ("queuejob", "e.job.Resource_List['nonsense']", "UnsetResourceNameError: resource attribute 'nonsense' not found"),
    ("queuejob", "e.job.Resource_List = {}", "AssertionError: can't set the head resource 'Resource_List' directly "),
    ("queuejob", "e.job.Variable_List = pbs.pbs_env('A=1')", "AssertionError: attribute 'Variable_List' cannot be directly set."),
    ("queuejob", "e.job = 1", "BadAttributeValueError: event attribute 'job' is readonly"),
    ("queuejob", "e.nonsense = 1", "UnsetAttributeNameError: event attribute 'nonsense' not found"),
    ("queuejob", "e.resv", "EventIncompatibleError: \"resv\" not found in self._param"),
    ("modifyjob", "e.resv", "EventIncompatibleError: \"resv\" not found in self._param"),
    ("modifyjob", "e.job.queue = 'q'", "BadAttributeValueError: job attribute 'queue' is readonly"),
    ("movejob", "e.job.Priority = 1", "AssertionError: Can only set job's 'queue' attribute under MOVEJOB event - got Priority"),
    ("runjob", "e.job.Priority = 1", "AssertionError: Can only set job's (Hold_Types,Execution_Time,project,Error_Path,Output_Path,Resource_List,Variable_List,"
     "depend,create_resv_from_job) attribute, or a vnode's (state) attribute under RUNJOB event - got Priority"),
    ("execjob_attach", "e.job.Priority = 1", "AssertionError: nothing is settable inside an execjob_attach hook!"),
    ("execjob_resize", "e.job.Priority = 1", "AssertionError: nothing is settable inside an execjob_resize hook!"),
    ("jobobit", "e.job.Priority = 1", "BadAttributeValueError: attribute 'Priority' is part of a readonly object"),
    ("queuejob", "e.job.Resource_List['ncpus'] = 'abc'", "ValueError: invalid literal for int() with base 10: 'abc'"),
    ("queuejob", "e.job.Resource_List['mem'] = 'abc'", "BadResourceValueError: resource attribute 'mem': invalid size value 'abc'"),
    ("queuejob", "e.job.Resource_List['mem'] = {}", "BadResourceValueTypeError: invalid type of resource 'mem': dict"),
    ("queuejob", "e.job.Priority = 'x'", "BadAttributeValueError: job attribute 'Priority': invalid literal for int() with base 10: 'x'"),
    ("queuejob", "e.job.Hold_Types = ['u']", "BadAttributeValueTypeError: job attribute 'Hold_Types' cannot be of type list"),
    ("queuejob", "pbs.server().queue('workq').enabled = True", "BadAttributeValueError: attribute 'enabled' is part of a readonly object"),
    ("queuejob", "pbs.server().scheduling = True", "BadAttributeValueError: attribute 'scheduling' is part of a readonly object"),
    ("queuejob", "pbs.logmsg(99999, 'x')", "TypeError: Invalid severity or eventtype value 99999"),
    ("queuejob", "pbs.reboot()", "RuntimeError: reboot() is for hooks of execution hosts"),
]


@pytest.mark.parametrize("event, statement, error", REFUSED)
def test_a_mistake_raises_what_pbs_raises(tmp, event, statement, error):
    said = error_of(tmp, statement, event, JOB + "pbs.event().job.id=1.svr\n", server="pbs.server().queue(workq).enabled=True\n")
    assert said == error


def test_nothing_can_be_set_after_the_decision(tmp):
    done = run(tmp, "try:\n    e.accept()\nexcept SystemExit:\n    pass\ne.job.Priority = 1\n")
    assert done.status == 254
    assert "Not permitted to modify attributes (name=Priority,res=): an event.accept() or event.reject() already called." in done.log


def test_an_object_of_a_reservation_event_is_read_only(tmp):
    assert error_of(tmp, "e.resv.queue = 'x'", "resv_begin", "pbs.event().resv.resvid=R1.svr\n") == \
        "BadAttributeValueError: attribute 'queue' is part of a readonly object"


def test_modifyresv_may_unset_what_users_may_write_only(tmp):
    data = "pbs.event().resv.Authorized_Groups=g\npbs.event().resv_o.Reserve_Name=old\n"
    assert run(tmp, "e.resv.Authorized_Groups = None", "modifyresv", data).changes() == {"pbs.event().resv.Authorized_Groups": ""}
    assert error_of(tmp, "e.resv.ctime = None", "modifyresv", data) == "BadAttributeValueError: resv attribute 'ctime' is readonly"
    assert error_of(tmp, "e.resv_o.Reserve_Name = 'x'", "modifyresv", data).endswith("is part of a readonly object")


def test_movejob_knows_both_queues(tmp):
    data = "pbs.event().job.id=1.svr\npbs.event().job.queue=testq\npbs.event().src_queue=workq\n"
    done = run(tmp, "e.reject('%s %s %s' % (e.src_queue.name, e.job.queue.name, e.src_queue.Priority))", "movejob", data,
               server="pbs.server().queue(workq).Priority=9\n")
    assert done.message == "workq testq 9"
    assert run(tmp, "e.job.queue = pbs.server().queue('workq')", "movejob", data, server="pbs.server().queue(workq).Priority=9\n").changes() == \
        {"pbs.event().job.queue": "workq"}


def test_objects_of_the_server_come_from_the_data_file(tmp):
    server = """pbs.server().name=svr
pbs.server().scheduling=True
pbs.server().queue("q1").state_count=Queued:2
pbs.server().job(1.svr).queue=q1
pbs.server().job(2.svr).queue=q2
pbs.server().vnode(n1).state=down
pbs.server().vnode(n1).resources_available[ncpus]=8
pbs.server().resv(R1.svr).reserve_state=5
"""
    done = run(tmp, """
s = pbs.server()
said = [s.name, s.scheduling, [q.name for q in s.queues()], [j.id for j in s.jobs()], [j.id for j in s.queue('q1').jobs()], s.queue('q1').job('2.svr'),
        s.job('9.svr'), s.vnode('n1').extract_state_strs(), s.vnode('n1').resources_available['ncpus'], s.resv('R1.svr').reserve_state == pbs.RESV_STATE_RUNNING]
pbs.logmsg(pbs.LOG_DEBUG, 'said %s' % said)
""", server=server)
    assert "said ['svr', True, ['q1'], ['1.svr', '2.svr'], ['1.svr'], None, None, ['ND_STATE_DOWN', 'ND_STATE_VNODE_UNAVAILABLE'], 8, True]" in done.log


def test_a_launch_hook_sets_program_arguments_and_environment(tmp):
    data = JOB + "pbs.event().progname=/bin/sh\npbs.event().argv[0]=sh\npbs.event().argv[1]=-l\npbs.event().env=A=1,B=2\n"
    done = run(tmp, "e.progname = '/bin/bash'\ne.argv.append('x')\ne.env['X'] = 'y'\ndel e.env['A']\n", "execjob_launch", data)
    assert done.changes() == {"pbs.event().progname": "/bin/bash", "pbs.event().argv[0]": "sh", "pbs.event().argv[1]": "-l", "pbs.event().argv[2]": "x",
                              'pbs.event().env["B"]': "2", 'pbs.event().env["X"]': "y"}
    assert error_of(tmp, "e.progname = 'x'", "execjob_begin", data).startswith("UnsetAttributeNameError")


def test_vnodes_of_a_host_event_are_set_and_new_ones_made(tmp):
    data = 'pbs.event().vnode_list["n1"].state=0\npbs.event().vnode_list["n1"].resources_available[ncpus]=2\n'
    done = run(tmp, """
e.vnode_list['n1'].state = pbs.ND_OFFLINE
e.vnode_list['n1'].comment = 'broken'
v = pbs.vnode('new')
v.resources_available['mem'] = pbs.size('9gb')
e.vnode_list['new'] = v
e.vnode_list['new'].sharing = pbs.ND_FORCE_EXCL
""", "exechost_startup", data)
    assert done.changes() == {'pbs.event().vnode_list["n1"].state': "offline", 'pbs.event().vnode_list["n1"].comment': "broken",
                              'pbs.event().vnode_list["new"].resources_available["mem"]': "9gb", 'pbs.event().vnode_list["new"].sharing': "force_excl"}


def test_requests_of_host_hooks_are_in_the_output(tmp):
    done = run(tmp, "e.job.rerun()\npbs.server().scheduler_restart_cycle()\npbs.reboot('shutdown -r')\n", "execjob_prologue", JOB + "pbs.event().job.id=1.svr\n")
    assert done.changes() == {"pbs.event().job.rerun": "1.svr", "pbs.server().scheduler_restart_cycle": "True", "pbs.reboot()": "shutdown -r"}


def test_release_nodes_keeps_the_chunks_without_failed_hosts(tmp):
    data = """pbs.event().job.id=1.svr
pbs.event().job.tolerate_node_failures=job_start
pbs.event().job.exec_vnode=(n1:ncpus=2)+(n2:ncpus=2)+(n3:ncpus=2)
pbs.event().vnode_list_fail["n2"].state=down
"""
    done = run(tmp, "j = e.job.release_nodes()\npbs.logmsg(pbs.LOG_DEBUG, 'now %s' % j.exec_vnode)", "execjob_prologue", data)
    assert "now (n1:ncpus=2)+(n3:ncpus=2)" in done.log
    done = run(tmp, "j = e.job.release_nodes(keep_select='ncpus=2')\npbs.logmsg(pbs.LOG_DEBUG, 'now %s' % j.exec_vnode)", "execjob_launch", data)
    assert done.log.endswith("now (n1:ncpus=2)\n")
    done = run(tmp, "pbs.logmsg(pbs.LOG_DEBUG, 'now %s' % e.job.release_nodes(keep_select='3:ncpus=2'))", "execjob_launch", data)
    assert "now None" in done.log and "too few" in done.log
    assert "is not for execjob_begin" in run(tmp, "e.job.release_nodes()", "execjob_begin", data).log


def test_management_is_read_only_and_says_what_was_asked(tmp):
    data = f"""pbs.event().management.cmd={pbs.MGR_CMD_SET}
pbs.event().management.objtype={pbs.MGR_OBJ_QUEUE}
pbs.event().management.objname=q1
pbs.event().management.attribs[0].name=enabled
pbs.event().management.attribs[0].value=True
pbs.event().management.attribs[0].op={pbs.BATCH_OP_SET}
pbs.event().management.attribs[0].flags=3
"""
    done = run(tmp, "m = e.management; a = m.attribs[0]\npbs.logmsg(pbs.LOG_DEBUG, 'm %s %s %s' % (m, a, a.extract_flags_str()))", "management", data)
    assert "m MGR_CMD_SET:MGR_OBJ_QUEUE:q1 enabled=True ['ATR_VFLAG_USER_READ', 'ATR_VFLAG_USER_WRITE']" in done.log
    assert error_of(tmp, "e.management.objname = 'x'", "management", data).endswith("is part of a readonly object")


def test_a_provision_hook_ends_with_the_status_it_gives(tmp):
    data = "pbs.event().vnode=n1\npbs.event().aoe=rhel9\n"
    assert run(tmp, "e.accept(0) if e.vnode == 'n1' and e.aoe == 'rhel9' else e.reject('x', 3)", "provision", data).status == 0
    assert run(tmp, "e.reject('x', 3)", "provision", data).status == 3


def test_custom_resources_are_those_of_the_resourcedef(tmp):
    done = run(tmp, "e.job.Resource_List['scratch'] = '5gb'\ne.job.Resource_List['tokens'] = 3\n", resourcedef="scratch type=size flag=nh\ntokens type=long\n")
    assert done.changes() == {'pbs.event().job.Resource_List["scratch"]': "5gb", 'pbs.event().job.Resource_List["tokens"]': "3"}


def test_a_configuration_file_is_named_thrice(tmp):
    done = run(tmp, "import os\npbs.logmsg(pbs.LOG_DEBUG, 'cf %s' % [pbs.hook_config_filename, pbs.get_hook_config_file(), os.environ.get('PBS_HOOK_CONFIG_FILE')])",
               data=JOB + "pbs.hook_config_filename=/x/h.CF\n")
    assert "cf ['/x/h.CF', '/x/h.CF', '/x/h.CF']" in done.log
    done = run(tmp, "import os\npbs.logmsg(pbs.LOG_DEBUG, 'cf %s' % [pbs.hook_config_filename, os.environ.get('PBS_HOOK_CONFIG_FILE')])")
    assert "cf [None, None]" in done.log


def test_prints_of_a_script_are_in_the_log_and_not_in_the_output(tmp):
    done = run(tmp, "import sys\nprint('to out')\nsys.stderr.write('to err')\n")
    assert "Hook;h;stdout: to out" in done.log and "Hook;h;stderr: to err" in done.log and done.stderr == ""


def test_values_of_several_lines_are_in_triple_quotes(tmp):
    done = run(tmp, "e.reject('two\\nlines' if e.job.comment == 'a\\nb' else 'no')", data='pbs.event().job.comment="""a\nb"""\n')
    assert done.out["pbs.event().reject_msg"] == "two"  # the second line is a line of its own
    assert 'reject_msg="""two\nlines"""' in open(f"{tmp}/out").read()


@pytest.mark.parametrize("line, said", [("nonsense", "no KEY=VALUE"), ("pbs.event().a.b.c.d=1", "what is"), ('pbs.event().job.comment="""x', "at its end")])
def test_a_line_that_cannot_be_read_is_named(tmp, line, said):
    done = run(tmp, "", data=line + "\n")
    assert done.status == 1 and said in done.stderr and "line 2" in done.stderr


def test_bad_calls_of_the_command_say_why(tmp):
    assert run(tmp, "", event="nonsense").status == 1 and "unknown event nonsense" in run(tmp, "", event="nonsense").stderr
    assert run(tmp, "e.accept(", data="").status == 1
    assert run(tmp, "", options=("-z",)).status == 2
    assert desk(tmp, HEAD + "pbs.logmsg(pbs.LOG_DEBUG, 'bit')", "0x8000", "").log.endswith("bit\n")


def test_a_runjob_hook_sets_the_state_of_a_vnode_of_the_server_and_nothing_else(tmp):
    server = "pbs.server().vnode(n1).state=free\n"
    done = run(tmp, "pbs.server().vnode('n1').state = pbs.ND_OFFLINE\ne.reject('broken')", "runjob", server=server)
    assert done.changes() == {'pbs.event().vnode_list["n1"].state': "offline"}
    assert error_of(tmp, "pbs.server().vnode('n1').comment = 'x'", "runjob", server=server).startswith("AssertionError: Can only set job's (")
    assert error_of(tmp, "pbs.server().vnode('n1').state = 1", "queuejob", server=server).endswith("is part of a readonly object")


PIECES = ["a", '"', '"""', "\\", "\n", "=", "]", "[", "(", ")", " ", "#", "'", ",", "\r", "\udcff", ".", "\x01", "\\x41", "\nX=1\npbs.event().accept=True\n",
          '"]=1\npbs.event().job.euser=root\n#']


def kept(data):
    """What a desk reads of a file that a hook with debug has left."""
    package()
    from hookrun.files import event_text, read_event
    from pbs.run import Run
    return read_event(event_text(Run(event="execjob_launch", type=0x800, hook_name="h", source=None, log=None, data=data, host="n1")))


@pytest.mark.parametrize("seed", range(10))
def test_a_file_of_a_hook_has_what_users_have_written_and_no_line_of_theirs(seed):
    r = random.Random(seed)

    def words():
        return "".join(r.choice(PIECES) for _ in range(r.randrange(8)))

    for _ in range(500):
        data = {"job": {"name": "1.svr", "attrs": {"Job_Name": words() or "x", "Variable_List": words() or "x", "Resource_List": {"ncpus": words() or "x"}}},
                "progname": words() or "x", "argv": [words(), words()], "env": {words().replace("=", "") or "K": words() for _ in range(3)}}
        settings, again = kept(data)
        assert again == data and settings["hook_name"] == "h"


@pytest.mark.parametrize("value", ["\n" * (1 << 20), "\\" * (1 << 20), '"' * (1 << 20), " " * (1 << 20) + "x", '\n"""' * (1 << 18)], ids=["lines", "backslashes", "quotes", "blanks", "ends"])
def test_a_file_of_a_hook_is_read_in_time_that_grows_with_its_length(value):
    data = {"job": {"name": "1.svr", "attrs": {"Variable_List": value}}}
    assert kept(data)[1] == data


def test_output_goes_where_options_say_and_to_today_s_log_without_them(tmp_path):
    os.makedirs(tmp_path / "logs")
    for name, text in (("h.py", "import pbs\npbs.logmsg(pbs.LOG_DEBUG, 'said')\npbs.event().reject('no')\n"), ("in", "pbs.event().type=queuejob\n")):
        (tmp_path / name).write_text(text, encoding="ascii")
    command = [os.path.join(os.environ["CEDE_BUILD"], "bin", "pbs_python"), "--hook"]

    def run(*options, **more):
        return subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120, **more)

    said = "pbs.event().accept=False\npbs.event().reject=True\npbs.event().reject_msg=no\n"
    assert run("-i", "in", "h.py").stdout == said
    assert len(list(tmp_path.glob("[0-9]" * 8))) == 1
    assert run("-i", "in", "-L", "logs", "h.py").stdout == said and len(list((tmp_path / "logs").glob("[0-9]" * 8))) == 1
    assert run("-i", "in", "-L", "logs", "-l", "mine", "-o", "out", "h.py").stdout == ""
    assert (tmp_path / "out").read_text(encoding="ascii") == said and ";said" in (tmp_path / "logs" / "mine").read_text(encoding="ascii")
    for event in ("queuejob", "QUEUEJOB", "HOOK_EVENT_QUEUEJOB", "1", "0x1"):
        assert run("-e", event, "-l", "mine", "h.py", input="").stdout == said, event
    assert run("-i", "in", "-l", "mine", input=(tmp_path / "h.py").read_text(encoding="ascii")).stdout == said
    assert subprocess.run([command[0], "--version"], capture_output=True, text=True, check=True).stdout.strip()
    assert subprocess.run([command[0], "-c", "print(1 + 1)"], capture_output=True, text=True, check=True).stdout == "2\n"
