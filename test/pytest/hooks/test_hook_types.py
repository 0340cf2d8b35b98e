"""Types of the module pbs: what each reads, how it prints, how it compares, what it refuses. No complex."""
import pytest

from harness.hook_desk import package

pbs = package()

PRINTED = [
    # type, given, printed
    ("size", "1gb", "1gb"), ("size", 512, "512b"), ("size", "10", "10b"), ("size", "4KW", "4kw"), ("size", "0", "0b"),
    ("duration", "1:00:00", "1:00:00"), ("duration", 3600, "01:00:00"), ("duration", "90", "00:01:30"), ("duration", "5:00", "5:00"),
    ("duration", 100.7, "00:01:40"), ("duration", "10.5", "00:00:10"),
    ("select", "2:ncpus=4:mem=1gb+1", "2:ncpus=4:mem=1gb+1"), ("select", "ncpus=1", "ncpus=1"), ("select", '1:host="a+b"', '1:host="a+b"'),
    ("place", "scatter:excl", "scatter:excl"), ("place", "pack", "pack"), ("place", "group=switch", "group=switch"),
    ("exec_vnode", "(n1:ncpus=2+n2:ncpus=1)+(n3:mem=1gb)", "(n1:ncpus=2+n2:ncpus=1)+(n3:mem=1gb)"),
    ("exec_host", "a/0*2+b/1", "a/0*2+b/1"), ("vchunk", "n1:ncpus=2:mem=1gb", "n1:ncpus=2:mem=1gb"),
    ("hold_types", "us", "us"), ("hold_types", "n", "n"), ("mail_points", "abe", "abe"), ("keep_files", "oed", "oed"), ("join_path", "oe", "oe"),
    ("checkpoint", "c=10", "c=10"), ("depend", "afterok:1.svr:2.svr,before:3", "afterok:1.svr:2.svr,before:3"), ("range", "1-10:2", "1-10:2"),
    ("range", "-", "-"), ("priority", "-5", "-5"), ("project", "chem 1", "chem 1"), ("name", "job.1", "job.1"), ("sandbox", "PRIVATE", "PRIVATE"),
    ("pbs_bool", "t", "True"), ("pbs_bool", 0, "False"), ("pbs_int", "7", "7"), ("pbs_float", "2.50", "2.5"), ("pbs_str", 5, "5"),
    ("acl", ["a", "-b"], "a,-b"), ("user_list", "a@h,b", "a@h,b"), ("group_list", "g", "g"), ("email_list", "a@site.org", "a@site.org"),
    ("path_list", "/bin/sh@h", "/bin/sh@h"), ("staging_list", "a@h:b,c@h:d", "a@h:b,c@h:d"), ("arst_list", ("x", "y"), "x,y"),
    ("route_destinations", "q1,q2@s", "q1,q2@s"), ("node_group_key", "switch", "switch"), ("state_count", "Queued:3 Running:1 ", "Queued:3 Running:1 "),
    ("pbs_env", "A=1,B=x\\,y", "A=1,B=x\\,y"), ("pbs_env", {"A": "a\\b"}, "A=a\\\\b"), ("args", "-x", "-x"), ("software", "ansys", "ansys"),
    ("version", "23.06", "23.06"), ("license_count", "Used:0", "Used:0"), ("job_sort_formula", "ncpus*2", "ncpus*2"), ("path", "h:/a", "h:/a"),
    ("vnode_state", "offline,down", "offline,down"), ("vnode_state", 0, "free"), ("vnode_state", "free", "free"), ("vnode_sharing", "force_excl", "force_excl"),
    ("tolerate_node_failures", "job_start", "job_start"), ("remove_files", "o", "o"),
]


@pytest.mark.parametrize("kind, given, printed", PRINTED)
def test_a_value_prints_as_pbs_prints_it(kind, given, printed):
    made = getattr(pbs, kind)(given)
    assert str(made) == printed
    assert str(getattr(pbs, kind)(str(made))) == printed


REFUSED = [("size", "1xb"), ("size", "gb"), ("duration", "1:2:3:4"), ("duration", "abc"), ("select", "ncpus"), ("select", "1:ncpus=2++1"), ("select", "x:ncpus=1"),
           ("place", "pack:freed"), ("place", "pack:free"), ("exec_vnode", "(n1:ncpus=1"), ("exec_vnode", "((a))"), ("exec_host", "a"), ("hold_types", "x"),
           ("mail_points", "z"), ("keep_files", "q"), ("join_path", "x"), ("checkpoint", "c=x"), ("depend", "afterok"), ("depend", "never:1"), ("range", "1-"),
           ("priority", 2000), ("project", "a/b"), ("name", "a b"), ("sandbox", "HERE"), ("pbs_bool", "maybe"), ("user_list", "a@b@c"), ("staging_list", "a:b"),
           ("state_count", "Queued"), ("vnode_state", "asleep"), ("vchunk", "n1:ncpus"), ("tolerate_node_failures", "some")]


@pytest.mark.parametrize("kind, given", REFUSED)
def test_a_bad_value_is_refused_by_its_type(kind, given):
    with pytest.raises(pbs.BadAttributeValueError):
        getattr(pbs, kind)(given)


@pytest.mark.parametrize("kind, given", [("size", []), ("duration", None), ("select", None), ("hold_types", ["u"]), ("acl", {}), ("pbs_env", 5), ("place", True)])
def test_a_value_of_a_wrong_python_type_is_refused_as_such(kind, given):
    with pytest.raises(pbs.BadAttributeValueTypeError):
        getattr(pbs, kind)(given)


def test_sizes_compare_and_add_across_units():
    total = pbs.size("1gb") + pbs.size("512mb")
    assert total == pbs.size("1536mb") and str(total) == "1536mb" and total != pbs.size("1537mb")
    assert pbs.size("1gb") - pbs.size("1mb") == "1023mb"
    assert pbs.size("1mb") > pbs.size("1023kb") and pbs.size("1kb") <= 1024 and pbs.size("1kw") == pbs.size("8kb")
    assert sum([pbs.size("1kb")] * 3, pbs.size(0)) == pbs.size("3kb") and hash(pbs.size("1kb")) == hash(pbs.size("1024b"))
    assert int(pbs.size("2kb")) == 2048 and not pbs.size(0)


def test_durations_are_numbers_of_seconds():
    assert int(pbs.duration("1:00:00")) == 3600 and pbs.duration("1:00") == 60 and pbs.duration("10") < pbs.duration("0:11")
    assert str(pbs.duration("1:00:00") + 60) == "01:01:00" and pbs.duration(100) - pbs.duration(40) == 60


def test_holds_add_and_take_away_letters():
    assert pbs.hold_types("u") + "s" == "us" and pbs.hold_types("us") - "u" == "s" and pbs.hold_types("u") - "u" == "n"
    assert pbs.hold_types("n") + "p" == "p"


def test_an_exec_vnode_has_its_chunks():
    chunks = pbs.exec_vnode("(n1:ncpus=2:mem=1gb+n2:ncpus=1)+(n3)").chunks
    assert [c.vnode_name for c in chunks] == ["n1", "n2", "n3"]
    assert chunks[0].chunk_resources["ncpus"] == 2 and chunks[0].chunk_resources["mem"] == pbs.size("1gb") and chunks[2].chunk_resources == {}


@pytest.mark.parametrize("spec, result", [
    (2, "1:ncpus=3:mem=1gb+3:ncpus=2+4:ncpus=1"), ("2", "1:ncpus=3:mem=1gb+3:ncpus=2+4:ncpus=1"), ("50%", "1:ncpus=3:mem=1gb+2:ncpus=2+3:ncpus=1"),
    ({0: 5, 1: 4, 2: "50%"}, "1:ncpus=3:mem=1gb+5:ncpus=2+3:ncpus=1"), ({}, "1:ncpus=3:mem=1gb+1:ncpus=2+2:ncpus=1")])
def test_more_chunks_never_count_the_first_one(spec, result):
    assert pbs.select("ncpus=3:mem=1gb+1:ncpus=2+2:ncpus=1").increment_chunks(spec) == result


def test_a_first_kind_of_several_chunks_grows_by_what_is_behind_its_first():
    assert pbs.select("3:ncpus=1").increment_chunks("50%") == "4:ncpus=1" and pbs.select("3:ncpus=1").increment_chunks(1) == "4:ncpus=1"
    with pytest.raises(pbs.BadAttributeValueError):
        pbs.select("1+1").increment_chunks("x")


def test_variables_keep_commas_and_backslashes():
    env = pbs.pbs_env("A=1,B=x\\,y,C=p\\\\q")
    assert env == {"A": "1", "B": "x,y", "C": "p\\q"} and pbs.pbs_env(str(env)) == env


def test_exceptions_are_those_of_python_too():
    assert issubclass(pbs.UnsetAttributeNameError, AttributeError) and issubclass(pbs.EventIncompatibleError, AttributeError)
    assert issubclass(pbs.BadAttributeValueError, ValueError) and issubclass(pbs.BadAttributeValueTypeError, TypeError)
    assert issubclass(pbs.BadResourceValueError, ValueError) and issubclass(pbs.BadResourceValueTypeError, TypeError)
    assert issubclass(pbs.UnsetResourceNameError, KeyError)


def test_constants_and_their_reverse():
    assert (pbs.QUEUEJOB, pbs.HOOK_EVENT_QUEUEJOB, pbs.EXECHOST_STARTUP, pbs.POSTQUEUEJOB) == (1, 1, 0x2000, 0x8000000)
    assert pbs.MOM_EVENTS & pbs.EXECJOB_END and not pbs.MOM_EVENTS & pbs.RUNJOB
    assert pbs.REVERSE_HOOK_EVENT[pbs.RUNJOB] == "HOOK_EVENT_RUNJOB" and pbs.REVERSE_JOB_STATE[pbs.JOB_STATE_RUNNING] == "JOB_STATE_RUNNING"
    assert pbs.REVERSE_MGR_CMDS[pbs.MGR_CMD_SET] == "MGR_CMD_SET" and pbs.REVERSE_NODE_STATE[pbs.ND_STATE_DOWN] == "ND_STATE_DOWN"
    assert (pbs.ND_OFFLINE, pbs.ND_DOWN, pbs.ND_FREE, pbs.ND_STATE_VNODE_UNAVAILABLE) == (1, 2, 0, 409903)
    assert pbs.JOB_SUBSTATE_RUNNING == 42 and pbs.RESV_STATE_DEGRADED == 10 and pbs.EVENT_DEBUG == 0x80


def test_states_of_a_vnode_by_name_and_number():
    down = pbs.vnode("n1")
    down.state = pbs.ND_DOWN
    assert down.extract_state_strs() == ["ND_STATE_DOWN", "ND_STATE_VNODE_UNAVAILABLE"] and down.extract_state_ints() == [2, 409903]
    free = pbs.vnode("n2")
    assert free.extract_state_strs() == ["ND_STATE_FREE"] and free.extract_state_ints() == [0]


def test_every_name_of_the_module_is_there_and_no_call_works_outside_a_hook():
    for name in pbs.__all__:
        if name not in ("hook_config_filename", "pbs_conf"):
            assert hasattr(pbs, name), name
    with pytest.raises(RuntimeError, match="in a hook only"):
        pbs.event()
