"""What qmgr does to objects, through libpbs: queues, nodes, schedulers, resources, the server itself."""
import pytest

from harness import api
from harness.ask import refused

pytestmark = pytest.mark.complex(nodes=0, sched=False)


def queue(cx, name):
    return cx.api.stat("que", name)[0]


def create(cx, kind, name, **attrs):
    cx.api.manager(api.CREATE, kind, name, [(k, None, v) for k, v in attrs.items()])


def change(cx, kind, name, *attrs):
    cx.api.manager(api.MSET, kind, name, list(attrs))


def unset(cx, kind, name, *attrs):
    cx.api.manager(api.MUNSET, kind, name, [(n, r, "") for n, r in attrs])


# --- what a new server has

def test_a_new_server_has_workq_as_its_default(complex):
    server = complex.api.stat("server")[0]
    workq = queue(complex, "workq")
    assert server["default_queue"] == "workq" and server["scheduling"] == "True"
    assert (workq["queue_type"], workq["enabled"], workq["started"]) == ("Execution", "True", "True")


def test_a_new_server_has_a_default_scheduler_with_pbs_defaults(complex):
    sched = complex.api.stat("sched")[0]
    assert sched.name == "default" and sched["scheduling"] == "True"
    assert sched["preempt_order"] == "SCR" and sched["preempt_queue_prio"] == "150"
    assert sched["preempt_prio"] == "express_queue, normal_jobs"
    assert sched["preempt_sort"] == "min_time_since_start" and sched["sched_cycle_length"] == "00:20:00"


# --- queues

def test_a_queue_is_made_changed_and_removed(complex):
    create(complex, api.QUEUE, "life", queue_type="e")
    assert queue(complex, "life")["queue_type"] == "Execution"
    change(complex, api.QUEUE, "life", ("Priority", "120"), ("comment", "first, second"))
    assert queue(complex, "life")["Priority"] == "120" and queue(complex, "life")["comment"] == "first, second"
    unset(complex, api.QUEUE, "life", ("Priority", None), ("comment", None))
    assert "comment" not in queue(complex, "life") and "Priority" not in queue(complex, "life")
    complex.api.manager(api.DELETE, api.QUEUE, "life")
    assert "life" in refused(15018, complex.api.stat, "que", "life").text


@pytest.mark.parametrize("name,code", [("abcdefghijklmnop", 15028), ("9lives", 15172), ("has space", 15172),
                                       ("workq", 15025), ("", 15172), ("line\nbreak", 15172)])
def test_a_bad_queue_name_is_refused(complex, name, code):
    before = [q.name for q in complex.api.stat("que")]
    refused(code, create, complex, api.QUEUE, name, queue_type="e")
    assert [q.name for q in complex.api.stat("que")] == before


def test_a_queue_without_a_type_cannot_be_opened(complex):
    create(complex, api.QUEUE, "typeless")
    for name in ("enabled", "started"):
        refused(15137, change, complex, api.QUEUE, "typeless", (name, "True"))
    change(complex, api.QUEUE, "typeless", ("queue_type", "Execution"), ("enabled", "True"))
    refused(15137, unset, complex, api.QUEUE, "typeless", ("queue_type", None))
    assert queue(complex, "typeless")["queue_type"] == "Execution"


def test_a_queue_with_jobs_cannot_be_deleted(complex):
    complex.make_queue("busy")
    job = complex.submit(queue="busy")
    assert "busy" in refused(15027, complex.api.manager, api.DELETE, api.QUEUE, "busy").text
    complex.api.delete(job)
    complex.api.manager(api.DELETE, api.QUEUE, "busy")


def test_the_default_queue_must_exist(complex):
    assert "nowhere" in refused(15018, complex.set_server, "default_queue", "nowhere").text
    assert complex.api.stat("server")[0]["default_queue"] == "workq"


def test_a_change_of_several_attributes_is_done_whole_or_not_at_all(complex):
    create(complex, api.QUEUE, "whole", queue_type="e", Priority="5")
    error = refused(15014, change, complex, api.QUEUE, "whole", ("Priority", "6"), ("kill_delay", "soon"))
    assert [a[0] for a in error.attributes] == ["kill_delay"]
    assert queue(complex, "whole")["Priority"] == "5"


def test_a_queue_that_cannot_be_made_as_asked_is_not_made(complex):
    refused(15002, create, complex, api.QUEUE, "halfmade", queue_type="e", colour="red")
    refused(15018, complex.api.stat, "que", "halfmade")


def test_lists_are_added_to_and_taken_from(complex):
    create(complex, api.QUEUE, "lists", queue_type="e", acl_users="anna@*,ben@*")
    change(complex, api.QUEUE, "lists", ("acl_users", None, "carl@*", api.INCR))
    assert queue(complex, "lists")["acl_users"] == "anna@*,ben@*,carl@*"
    change(complex, api.QUEUE, "lists", ("acl_users", None, "ben@*", api.DECR))
    assert queue(complex, "lists")["acl_users"] == "anna@*,carl@*"


def test_numbers_are_added_to_and_taken_from(complex):
    create(complex, api.QUEUE, "numbers", queue_type="e", Priority="10")
    change(complex, api.QUEUE, "numbers", ("Priority", None, "7", api.INCR))
    assert queue(complex, "numbers")["Priority"] == "17"
    change(complex, api.QUEUE, "numbers", ("resources_max", "mem", "2gb"))
    change(complex, api.QUEUE, "numbers", ("resources_max", "mem", "1gb", api.INCR))
    assert queue(complex, "numbers")["resources_max"] == {"mem": "3145728kb"}


def test_limits_are_kept_by_entity(complex):
    create(complex, api.QUEUE, "limits", queue_type="e", max_queued="[o:PBS_ALL=100],[u:PBS_GENERIC=3]")
    change(complex, api.QUEUE, "limits", ("max_queued", None, "[u:anna=5]", api.INCR))
    text = queue(complex, "limits")["max_queued"].replace(" ", "")
    assert sorted(text.split(",")) == ["[o:PBS_ALL=100]", "[u:PBS_GENERIC=3]", "[u:anna=5]"]
    change(complex, api.QUEUE, "limits", ("max_queued", None, "[u:PBS_GENERIC=3]", api.DECR))
    assert "GENERIC" not in queue(complex, "limits")["max_queued"]
    change(complex, api.QUEUE, "limits", ("max_run_res", "ncpus", "[u:PBS_GENERIC=8]"))
    assert queue(complex, "limits")["max_run_res"] == {"ncpus": "[u:PBS_GENERIC=8]"}


@pytest.mark.parametrize("spec", ["3", "[x:anna=3]", "[u:anna]", "[u:anna=many]", "[u:anna=3", "[o:anna=3]",
                                  "[u:PBS_ALL=3]", "[u:=3]", "[u:anna=-1]"])
def test_a_bad_limit_is_refused(complex, spec):
    error = refused(15014, change, complex, api.QUEUE, "workq", ("max_queued", spec))
    assert "max_queued" in error.text and "max_queued" not in queue(complex, "workq")


def test_old_and_new_limits_do_not_mix(complex):
    create(complex, api.QUEUE, "mixed", queue_type="e", max_running="4")
    refused(15141, change, complex, api.QUEUE, "mixed", ("max_run", "[o:PBS_ALL=4]"))
    assert "max_run" not in queue(complex, "mixed")


def test_one_resource_or_all_of_an_attribute_is_unset(complex):
    create(complex, api.QUEUE, "unsetting", queue_type="e")
    change(complex, api.QUEUE, "unsetting", ("resources_max", "mem", "2gb"), ("resources_max", "ncpus", "4"))
    unset(complex, api.QUEUE, "unsetting", ("resources_max", "mem"))
    assert queue(complex, "unsetting")["resources_max"] == {"ncpus": "4"}
    unset(complex, api.QUEUE, "unsetting", ("resources_max", None))
    assert "resources_max" not in queue(complex, "unsetting")


def test_a_comma_list_names_several_objects(complex):
    complex.make_queue("many1")
    complex.make_queue("many2")
    change(complex, api.QUEUE, "many1,many2", ("Priority", "33"))
    assert queue(complex, "many1")["Priority"] == queue(complex, "many2")["Priority"] == "33"
    complex.api.manager(api.DELETE, api.QUEUE, "many1,many2")
    refused(15018, complex.api.stat, "que", "many2")


def test_attributes_of_route_queues_are_refused_on_execution_queues(complex):
    create(complex, api.QUEUE, "execonly", queue_type="e")
    refused(15026, change, complex, api.QUEUE, "execonly", ("route_destinations", "workq"))


# --- the server

def test_attributes_that_the_server_computes_cannot_be_set(complex):
    for name in ("total_jobs", "state_count", "pbs_version", "server_state"):
        assert name in refused(15003, complex.set_server, name, "1").text


def test_unset_brings_the_default_back(complex):
    complex.set_server("scheduler_iteration", "77")
    assert complex.api.stat("server")[0]["scheduler_iteration"] == "77"
    assert complex.api.stat("sched")[0]["scheduler_iteration"] == "77"
    unset(complex, api.SERVER, "", ("scheduler_iteration", None))
    assert complex.api.stat("server")[0]["scheduler_iteration"] == "600"
    assert complex.api.stat("sched")[0]["scheduler_iteration"] == "600"


def test_scheduling_of_the_server_and_of_its_scheduler_are_one(complex):
    complex.set_server("scheduling", "False")
    assert complex.api.stat("sched")[0]["scheduling"] == "False"
    complex.set_sched("scheduling", "t")
    assert complex.api.stat("server")[0]["scheduling"] == "True"


def test_the_largest_sequence_number_has_its_bounds(complex):
    refused(15225, complex.set_server, "max_job_sequence_id", "9999998")
    refused(15225, complex.set_server, "max_job_sequence_id", "1000000000000")
    complex.set_server("max_job_sequence_id", "99999999")
    unset(complex, api.SERVER, "", ("max_job_sequence_id", None))


def test_the_servers_name_may_be_given(complex):
    name = complex.api.stat("server")[0].name
    complex.api.manager(api.MSET, api.SERVER, name, [("comment", None, "by name")])
    assert complex.api.stat("server")[0]["comment"] == "by name"
    refused(15004, complex.api.manager, api.MSET, api.SERVER, "elsewhere", [("comment", None, "x")])


# --- nodes

def test_a_node_is_made_changed_and_removed(complex):
    create(complex, api.NODE, "m1")
    change(complex, api.NODE, "m1", ("comment", "in the corner"), ("resources_available", "ncpus", "6"))
    node = complex.api.stat("vnode", "m1")[0]
    assert node["comment"] == "in the corner" and node["resources_available"]["ncpus"] == "6"
    refused(15066, create, complex, api.NODE, "m1")
    unset(complex, api.NODE, "m1", ("comment", None))
    assert "comment" not in complex.api.stat("vnode", "m1")[0]
    complex.api.manager(api.DELETE, api.NODE, "m1")
    assert "m1" in refused(15062, complex.api.stat, "vnode", "m1").text


def test_a_node_is_put_offline_and_back(complex):
    create(complex, api.NODE, "m2")
    change(complex, api.NODE, "m2", ("state", "offline"))
    assert "offline" in complex.api.stat("vnode", "m2")[0]["state"]
    change(complex, api.NODE, "m2", ("state", "free"))
    assert "offline" not in complex.api.stat("vnode", "m2")[0]["state"]
    change(complex, api.NODE, "m2", ("state", None, "offline", api.INCR))
    assert "offline" in complex.api.stat("vnode", "m2")[0]["state"]
    change(complex, api.NODE, "m2", ("state", None, "offline", api.DECR))
    assert "offline" not in complex.api.stat("vnode", "m2")[0]["state"]


@pytest.mark.parametrize("state", ["job-busy", "sleepy", "free,sleepy"])
def test_a_state_that_cannot_be_set_is_refused(complex, state):
    create(complex, api.NODE, "m3")
    try:
        refused(15067, change, complex, api.NODE, "m3", ("state", state))
    finally:
        complex.api.manager(api.DELETE, api.NODE, "m3")


def test_a_refused_change_leaves_a_nodes_state_alone(complex):
    create(complex, api.NODE, "m4")
    refused(15002, change, complex, api.NODE, "m4", ("state", "offline"), ("colour", "red"))
    assert "offline" not in complex.api.stat("vnode", "m4")[0]["state"]


# --- schedulers

def test_a_scheduler_object_is_made_and_removed(complex):
    create(complex, api.SCHED, "second")
    names = [s.name for s in complex.api.stat("sched")]
    assert names == ["default", "second"]
    second = complex.api.stat("sched")[1]
    assert second["scheduling"] == "False" and second["state"] == "down"
    complex.api.manager(api.DELETE, api.SCHED, "second")
    assert [s.name for s in complex.api.stat("sched")] == ["default"]


def test_a_scheduler_shows_the_defaults_of_its_host_partition_and_directories(complex):
    create(complex, api.SCHED, "s9")
    host = complex.api.stat("server")[0]["server_host"]
    for name, shown in (("default", ("pbs-default", f"{complex.home}/sched_priv", f"{complex.home}/sched_logs")),
                        ("s9", (None, f"{complex.home}/sched_priv_s9", f"{complex.home}/sched_logs_s9"))):
        s = next(s for s in complex.api.stat("sched") if s.name == name)
        assert (s["sched_host"], s.get("partition"), s["sched_priv"], s["sched_log"]) == (host, *shown)
        assert f"    sched_priv = {shown[1]}\n" in complex.qmgr(f"list sched {name}")
        assert "sched_priv" not in complex.qmgr(f"print sched {name}")
        assert "sched_priv" not in next(s for s in complex.api.stat("sched", extend="p") if s.name == name)
    complex.set_sched("sched_priv", "/some/where", sched="s9")
    assert "sched_priv = /some/where\n" in complex.qmgr("list sched s9") and "sched_priv = /some/where\n" in complex.qmgr("print sched s9")
    complex.api.manager(api.MUNSET, api.SCHED, "s9", [("sched_priv", None, "")])
    assert f"sched_priv = {complex.home}/sched_priv_s9\n" in complex.qmgr("list sched s9")
    complex.api.manager(api.DELETE, api.SCHED, "s9")


@pytest.mark.parametrize("attr, number", [("sched_priv", 15215), ("sched_log", 15216)])
def test_no_two_schedulers_share_a_directory(complex, attr, number):
    preset = f"{complex.home}/{'sched_priv' if attr == 'sched_priv' else 'sched_logs'}"
    for name in ("one", "two"):
        create(complex, api.SCHED, name)
    for taken in (preset, f"{preset}_one"):  # of the default scheduler, and of one whose directory was never set
        refused(number, complex.set_sched, attr, taken, sched="two")
        refused(number, complex.api.manager, api.CREATE, api.SCHED, "three", [(attr, None, taken)])
    complex.set_sched(attr, "/some/where", sched="one")
    refused(number, complex.set_sched, attr, "/some/where", sched="two")
    complex.set_sched(attr, f"{preset}_one", sched="two")
    refused(number, complex.api.manager, api.MUNSET, api.SCHED, "one", [(attr, None, "")])
    complex.set_sched(attr, f"{preset}_three", sched="two")
    refused(number, create, complex, api.SCHED, "three")
    complex.api.manager(api.CREATE, api.SCHED, "three", [(attr, None, "/else/where")])
    assert [s.name for s in complex.api.stat("sched")] == ["default", "one", "two", "three"]
    for name in ("one", "two", "three"):
        complex.api.manager(api.DELETE, api.SCHED, name)


def test_the_old_name_of_job_run_wait_is_kept_in_step(complex):
    def both():
        s = next(s for s in complex.api.stat("sched") if s.name == "default")
        return s["throughput_mode"], s["job_run_wait"]

    for name, value, expected in (("throughput_mode", "False", ("False", "execjob_hook")),
                                  ("throughput_mode", "True", ("True", "runjob_hook")),
                                  ("job_run_wait", "execjob_hook", ("False", "execjob_hook")),
                                  ("job_run_wait", "none", ("True", "none")),
                                  ("job_run_wait", None, ("True", "runjob_hook"))):
        op = api.MUNSET if value is None else api.MSET
        complex.api.manager(op, api.SCHED, "default", [(name, None, value or "")])
        assert both() == expected, (name, value)


def test_the_default_scheduler_stays(complex):
    refused(15214, complex.api.manager, api.DELETE, api.SCHED, "default")
    for name, value in (("partition", "p1"), ("sched_priv", "/tmp/p"), ("sched_log", "/tmp/l")):
        refused(15223, complex.set_sched, name, value)
    refused(15213, complex.set_sched, "preempt_order", "S", sched="nobody")
    refused(15212, create, complex, api.SCHED, "abcdefghijklmnop")


@pytest.mark.parametrize("text", ["SCRD", "D", "S 90 C 10 R", "SCR 80 SC 50 S", "r"])
def test_a_preempt_order_is_kept_as_it_was_given(complex, text):
    if text == "r":
        refused(15014, complex.set_sched, "preempt_order", text)
    else:
        complex.set_sched("preempt_order", text)
        assert complex.api.stat("sched")[0]["preempt_order"] == text
    unset(complex, api.SCHED, "default", ("preempt_order", None))
    assert complex.api.stat("sched")[0]["preempt_order"] == "SCR"


# --- resources

def resource(cx, name):
    return cx.api.stat("rsc", name)[0]


def test_a_resource_is_made_used_and_removed(complex):
    create(complex, api.RESOURCE, "gpus", type="long", flag="nh")
    assert resource(complex, "gpus")["type"] == "1"
    assert "Duplicate entry in list" in refused(15055, create, complex, api.RESOURCE, "gpus", type="long").text
    job = complex.submit(select="1:ncpus=1:gpus=2")
    assert complex.stat(job)["Resource_List"]["gpus"] == "2"
    assert "job" in refused(15174, complex.api.manager, api.DELETE, api.RESOURCE, "gpus").text
    complex.api.delete(job)
    complex.api.manager(api.DELETE, api.RESOURCE, "gpus")
    assert "gpus" in refused(15035, complex.submit, select="1:gpus=1").text


@pytest.mark.parametrize("name,type_,flag,code", [
    ("1bad", "long", "", 15172), ("bad name", "long", "", 15172), ("ok1", "colour", "", 15014),
    ("ok2", "long", "z", 15014), ("ok3", "string", "nh", 15014), ("ok4", "long", "n", 15014),
    ("ok5", "long", "nfh", 15014), ("ncpus", "long", "", 15055)])
def test_a_bad_resource_is_refused(complex, name, type_, flag, code):
    before = len(complex.api.stat("rsc"))
    refused(code, create, complex, api.RESOURCE, name, type=type_, flag=flag)
    assert len(complex.api.stat("rsc")) == before


def test_a_built_in_resource_stays(complex):
    with pytest.raises(api.PbsError):
        complex.api.manager(api.DELETE, api.RESOURCE, "ncpus")
    assert resource(complex, "ncpus")["type"] == "1"


def test_an_invisible_resource_is_seen_by_managers_only(complex):
    create(complex, api.RESOURCE, "secret", type="long", flag="i")
    change(complex, api.SERVER, "", ("resources_available", "secret", "5"))
    assert complex.api.stat("server")[0]["resources_available"]["secret"] == "5"
    unset(complex, api.SERVER, "", ("resources_available", "secret"))
    complex.api.manager(api.DELETE, api.RESOURCE, "secret")


# --- and all of it lasts

@pytest.mark.complex(nodes=0, sched=False)
def test_everything_set_outlives_a_killed_server(cx):
    create(cx, api.RESOURCE, "gpus", type="long", flag="nh")
    create(cx, api.RESOURCE, "colour", type="string", flag="h")
    cx.make_queue("big", Priority="100", comment='with "quotes", and\nlines', max_queued="[u:PBS_GENERIC=3]",
                  acl_users="-anna@*,+", acl_user_enable="True", kill_delay="3")
    change(cx, api.QUEUE, "big", ("resources_max", "gpus", "4"), ("resources_default", "mem", "1gb"))
    create(cx, api.NODE, "m1")
    change(cx, api.NODE, "m1", ("state", "offline"), ("resources_available", "colour", "red"))
    cx.set_sched("preempt_order", "SCRD 50 R")
    cx.set_server("managers", "pbstest1@*")
    cx.set_server("job_history_duration", "100:00:00")
    job = cx.submit(queue="big", select="2:ncpus=1:gpus=1", Job_Name="stays")

    def everything():
        def less(s, *names):
            return {k: v for k, v in s.items() if k not in names}
        return [[(o.name, less(o, "license_count", "last_state_change_time", "mtime", "state_count"))
                 for o in cx.api.stat(kind)]
                for kind in ("server", "que", "vnode", "sched", "job", "rsc")]

    before = everything()
    cx.kill("server")
    cx.restart("server")
    cx.again()
    assert everything() == before
    assert cx.stat(job)["Job_Name"] == "stays"
