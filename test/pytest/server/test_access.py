"""Who may do what: owners, operators, managers, lists of users, groups and hosts. Users have their own uids."""
import contextlib
import os
import stat

import pytest

from harness import api, users
from harness.ask import refused
from harness.complex import Complex

pytestmark = pytest.mark.skipif(not users.available(), reason="needs root, to be several users")

ANNA, BEN, CARL = "pbstest1", "pbstest2", "pbstest3"


class Person:
    """A user with a connection of his own."""

    def __init__(self, cx, name):
        with users.acting_as(name):
            self.api = cx.connect()
        self.cx, self.name = cx, name

    def submit(self, *attrs, queue=None):
        work = [("Output_Path", "/tmp/o"), ("Error_Path", "/tmp/e")]
        return self.api.submit([*work, *attrs], self.cx.script("sleep 600"), queue)


@pytest.fixture
def people(place):
    """anna, ben, carl; afterwards lists are as they were, and there are no jobs."""
    roots = place.api.stat("server")[0]["acl_roots"]
    three = [Person(place, name) for name in (ANNA, BEN, CARL)]
    yield three
    for p in three:
        p.api.close()
    for name in ("managers", "operators", "acl_users", "acl_user_enable", "acl_hosts", "acl_host_enable",
                 "acl_host_moms_enable", "query_other_jobs"):
        place.api.manager(api.MUNSET, api.SERVER, "", [(name, None, "")])
    place.set_server("acl_roots", roots)
    place.clean()


# --- whose a job is

def test_the_owner_is_the_user_that_the_kernel_reports(place, people):
    anna, _, _ = people
    job = place.stat(anna.submit())
    assert job["Job_Owner"].split("@")[0] == ANNA and job["euser"] == ANNA and job["egroup"] == ANNA


@pytest.mark.parametrize("name", ["Job_Owner", "euser", "egroup", "job_state", "exec_vnode", "ctime", "server"])
def test_attributes_that_the_server_knows_cannot_be_submitted(people, name):
    anna, _, _ = people
    assert name in refused(15003, anna.submit, (name, "pbstest2@here")).text


REQUESTS = {
    "delete": lambda a, job: a.delete(job),
    "delete by force": lambda a, job: a.delete(job, "force"),
    "hold": lambda a, job: a.hold(job),
    "release": lambda a, job: a.release(job),
    "alter": lambda a, job: a.alter(job, [("Priority", "5")]),
    "signal": lambda a, job: a.signal(job, "TERM"),
    "rerun": lambda a, job: a.rerun(job),
    "move": lambda a, job: a.move(job, "workq"),
    "run": lambda a, job: a.run(job, "(n1:ncpus=1)"),
    "run asynchronously": lambda a, job: a.run_async(job, "(n1:ncpus=1)"),
}


@pytest.mark.parametrize("what", REQUESTS)
def test_another_users_job_cannot_be_touched(place, people, what):
    anna, ben, _ = people
    job = anna.submit()
    before = dict(place.stat(job))
    refused(15007, REQUESTS[what], ben.api, job)
    assert dict(place.stat(job)) == before


def test_of_a_list_only_ones_own_jobs_are_deleted(place, people):
    anna, ben, _ = people
    mine, hers = ben.submit(), anna.submit()
    assert ben.api.delete_list([hers, mine]) == {hers: 15007}
    assert place.state(hers) == "Q" and place.state(mine) is None


def test_an_owner_may_hold_alter_and_delete_the_job(place, people):
    anna, _, _ = people
    job = anna.submit()
    anna.api.hold(job)
    anna.api.alter(job, [("Priority", "5")])
    anna.api.release(job)
    assert place.stat(job)["Priority"] == "5" and place.state(job) == "Q"
    anna.api.delete(job)
    assert place.state(job) is None


# --- holds

@pytest.mark.parametrize("letters", ["s", "o", "us", "p"])
def test_a_user_sets_and_releases_user_holds_only(place, people, letters):
    anna, _, _ = people
    job = anna.submit()
    refused(15007, anna.api.hold, job, letters)
    refused(15007, anna.api.alter, job, [("Hold_Types", letters)])
    place.api.hold(job, letters)
    refused(15007, anna.api.release, job, letters)
    assert place.state(job) == "H"


def test_the_comment_says_who_holds_a_job_until_it_is_released(place, people):
    anna, _, _ = people
    job = anna.submit()
    anna.api.hold(job)
    assert place.stat(job)["comment"].startswith(f"Job held by {ANNA} on ")
    place.api.hold(job, "o")
    assert place.stat(job)["comment"].startswith("Job held by root on ")
    anna.api.release(job)
    assert "comment" in place.stat(job)
    place.api.release(job, "o")
    assert "comment" not in place.stat(job)
    place.api.alter(job, [("Hold_Types", None, "u")])
    assert place.stat(job)["comment"].startswith("Job held by root on ")
    anna.api.alter(job, [("Hold_Types", None, "n")])
    assert "comment" not in place.stat(job)
    after = place.submit(depend=f"afterok:{job}")
    place.api.hold(after)
    place.api.release(after)
    assert place.state(after) == "H" and "comment" not in place.stat(after)  # no user has set that hold


def test_a_submission_cannot_hold_with_letters_of_others(people):
    anna, _, _ = people
    refused(15007, anna.submit, ("Hold_Types", "s"))


# --- attributes

@pytest.mark.parametrize("name,value", [("comment", "mine"),
                                        ("topjob_ineligible", "True"), ("sched_hint", "1")])
def test_a_user_cannot_set_what_operators_and_managers_set(place, people, name, value):
    anna, _, _ = people
    job = anna.submit()
    assert name in refused(15003, anna.api.alter, job, [(name, value)]).text
    place.api.alter(job, [(name, value)])


def test_attributes_for_managers_are_not_shown_to_users(place, people):
    anna, _, _ = people
    job = anna.submit()
    theirs, managers = anna.api.stat("job", job)[0], place.stat(job)
    for name in ("euser", "egroup", "hashname", "schedselect", "queue_rank"):
        assert name in managers and name not in theirs


@pytest.mark.parametrize("name,value", [("nodect", "4"), ("soft_walltime", "1:00")])
def test_a_user_cannot_ask_for_resources_that_managers_set(place, people, name, value):
    anna, _, _ = people
    assert name in refused(15003, anna.submit, ("Resource_List", name, value)).text
    job = anna.submit()
    assert name in refused(15003, anna.api.alter, job, [("Resource_List", name, value)]).text


# --- operators and managers

def test_an_operator_acts_on_all_jobs_but_makes_no_objects(place, people):
    anna, ben, _ = people
    place.set_server("operators", f"{BEN}@*")
    job = anna.submit()
    ben.api.hold(job, "o")
    ben.api.release(job, "o")
    ben.api.manager(api.MSET, api.SERVER, "", [("comment", "by an operator")])
    refused(15007, ben.api.manager, api.CREATE, api.QUEUE, "mine", [("queue_type", "e")])
    refused(15007, ben.api.manager, api.CREATE, api.RESOURCE, "mine", [("type", "long")])
    refused(15007, ben.api.hold, job, "s")
    assert "managers" in refused(15003, ben.api.manager, api.MSET, api.SERVER, "",
                                 [("managers", f"{BEN}@*")]).text
    ben.api.delete(job)
    assert place.state(job) is None


def test_a_manager_makes_objects_too(place, people):
    _, ben, _ = people
    place.set_server("managers", f"{BEN}@*")
    ben.api.manager(api.CREATE, api.QUEUE, "bens", [("queue_type", "e")])
    ben.api.manager(api.DELETE, api.QUEUE, "bens")
    ben.api.hold(place.submit(), "s")


def test_rights_end_when_the_list_says_so(place, people):
    anna, ben, _ = people
    job = anna.submit()
    place.set_server("operators", f"{BEN}@*")
    ben.api.hold(job, "o")
    place.api.manager(api.MSET, api.SERVER, "", [("operators", None, f"{BEN}@*", api.DECR)])
    refused(15007, ben.api.release, job, "o")


def test_the_host_of_an_operator_counts(place, people):
    anna, ben, _ = people
    job = anna.submit()
    place.set_server("operators", f"{BEN}@elsewhere")
    refused(15007, ben.api.delete, job)
    host = place.api.stat("server")[0].name
    place.set_server("operators", f"{BEN}@{host}")
    ben.api.delete(job)


@pytest.mark.parametrize("call", [
    lambda a: a.manager(api.MSET, api.SERVER, "", [("comment", "x")]),
    lambda a: a.manager(api.MSET, api.QUEUE, "workq", [("enabled", "False")]),
    lambda a: a.manager(api.CREATE, api.NODE, "n99"),
    lambda a: a.manager(api.DELETE, api.QUEUE, "workq"),
    lambda a: a.terminate(),
    lambda a: a.register(),
])
def test_a_plain_user_manages_nothing(place, people, call):
    anna, _, _ = people
    refused(15007, call, anna.api)
    assert place.api.stat("que", "workq")[0]["enabled"] == "True"


def test_only_a_scheduler_preempts(people):
    anna, _, _ = people
    job = anna.submit()
    with pytest.raises(api.PbsError):
        anna.api.preempt([job])


def cycles_told(connection):
    [told] = [s for s in connection.counts() if s.name == "cycle:default"]
    return told


def test_a_sched_user_may_be_the_scheduler_and_nothing_more(place, people):
    anna, ben, _ = people
    place.set_sched("sched_user", BEN)
    refused(15007, anna.api.register)
    refused(15007, anna.api.sched_counts, 7, 1500, [1, 0, 1] + [0] * 10)
    assert cycles_told(place.api)["count"] == "0"
    ben.api.register()
    ben.api.sched_counts(7, 1500, [1, 0, 1] + [0] * 10)
    told = cycles_told(anna.api)
    assert told["jobs"] == "7" and told["count"] == "2" and told["seconds"] == "0.001500"
    assert told["took"]["0.0001"] == "1" and told["took"]["0.001"] == "2" == told["took"]["+Inf"]
    refused(15007, ben.api.manager, api.CREATE, api.QUEUE, "mine", [("queue_type", "e")])
    place.api.manager(api.MUNSET, api.SCHED, "default", [("sched_user", None, "")])


# --- seeing

def test_others_jobs_are_hidden_where_the_server_says_so(place, people):
    anna, ben, _ = people
    job = anna.submit()
    assert [j.name for j in ben.api.stat("job")] == [job] and ben.api.select() == [job]
    place.set_server("query_other_jobs", "False")
    assert ben.api.stat("job") == [] and ben.api.select() == [] and ben.api.selstat() == []
    refused(15001, ben.api.stat, "job", job)
    assert [j.name for j in anna.api.stat("job")] == [job]
    assert place.api.select() == [job]


def test_a_watcher_sees_only_what_it_may(place, people):
    anna, ben, _ = people
    place.set_server("query_other_jobs", "False")
    job = anna.submit()
    watch = ben.api.watch({2: None})
    watch.catch_up()
    assert watch.objects == {}
    own = ben.submit()
    watch.next()
    assert [name for _, name in watch.objects] == [own] and job != own
    assert "euser" not in watch.objects[(2, own)]


# --- whose jobs run as whom

def test_a_user_cannot_submit_for_another(people):
    anna, _, _ = people
    assert BEN in refused(15023, anna.submit, ("User_List", BEN)).text
    anna.submit(("User_List", ANNA))


def test_a_user_cannot_alter_a_job_to_run_as_another(place, people):
    anna, _, _ = people
    job = anna.submit()
    assert BEN in refused(15023, anna.api.alter, job, [("User_List", BEN)]).text
    assert place.stat(job)["euser"] == ANNA and "User_List" not in place.stat(job)


def test_an_unknown_user_is_refused(place):
    assert "nosuchuser" in refused(15023, place.submit, User_List="nosuchuser").text


def test_a_group_must_be_the_users_own(place, people):
    anna, _, _ = people
    assert "root" in refused(15045, anna.submit, ("group_list", "root")).text
    job = anna.submit(("group_list", users.GROUP))
    assert place.stat(job)["egroup"] == users.GROUP
    refused(15045, anna.api.alter, job, [("group_list", "root")])
    anna.api.alter(job, [("group_list", ANNA)])
    assert place.stat(job)["egroup"] == ANNA
    place.kill("server")
    place.restart("server")
    assert place.again().stat("job", job)[0]["egroup"] == ANNA


def test_root_runs_jobs_only_where_acl_roots_names_it(place, people):
    place.set_server("acl_roots", "nobody")
    assert "acl_roots" in refused(15023, place.submit, User_List="root").text
    place.set_server("acl_roots", "root")
    place.submit(User_List="root")


# --- lists of the server and of queues

def test_the_servers_list_of_users(place, people):
    anna, ben, _ = people
    place.set_server("acl_users", f"{ANNA}@*")
    place.set_server("acl_user_enable", "True")
    anna.submit()
    assert BEN in refused(15007, ben.submit).text


def test_lists_of_the_server_count_for_each_request_of_users_and_not_of_managers(place, people):
    anna, ben, _ = people
    job = ben.submit()
    place.set_server("acl_users", f"{ANNA}@*")
    place.set_server("acl_user_enable", "True")
    for call in (lambda: ben.api.stat("server"), lambda: ben.api.stat("job", job), lambda: ben.api.delete(job), lambda: ben.api.select([])):
        assert BEN in refused(15007, call).text
    assert anna.api.stat("server") and place.api.stat("job", job)
    place.set_server("acl_user_enable", "False")
    place.set_server("acl_hosts", "elsewhere")
    place.set_server("acl_host_enable", "True")
    refused(15008, lambda: anna.api.stat("server"))
    place.api.delete(job)
    place.set_server("acl_host_enable", "False")
    assert ben.api.stat("server")


def test_the_servers_list_of_hosts(place, people):
    anna, _, _ = people
    place.set_server("acl_hosts", "elsewhere")
    place.set_server("acl_host_enable", "True")
    refused(15008, anna.submit)
    place.api.manager(api.MSET, api.SERVER, "", [("acl_hosts", None, place.api.stat("server")[0].name,
                                                  api.INCR)])
    anna.submit()


def test_hosts_of_moms_are_served_where_the_server_says_so(place, people):
    anna, _, _ = people
    here = place.api.stat("server")[0].name
    place.set_server("acl_hosts", "elsewhere")
    place.set_server("acl_host_enable", "True")
    place.set_server("acl_host_moms_enable", "True")
    refused(15008, anna.submit)
    place.api.manager(api.CREATE, api.NODE, "of_here", [("Mom", None, f"{here}.some.domain")])
    try:
        anna.submit()
        place.set_server("acl_host_moms_enable", "False")
        refused(15008, anna.submit)
    finally:
        place.api.manager(api.DELETE, api.NODE, "of_here")


@pytest.mark.parametrize("entries,anna_may,ben_may", [
    (f"{ANNA}@*", True, False), (f"-{ANNA}@*,+", False, True), (f"+{ANNA}", True, False), ("-", False, False),
    ("+", True, True), (f"{ANNA}@elsewhere", False, False), (f"{BEN},-{ANNA}", False, True)])
def test_a_queues_list_of_users(place, people, entries, anna_may, ben_may):
    anna, ben, _ = people
    name = "users"
    with contextlib.suppress(api.PbsError):
        place.make_queue(name)
    place.set_queue(name, "acl_users", entries)
    place.set_queue(name, "acl_user_enable", "True")
    for who, may in ((anna, anna_may), (ben, ben_may)):
        if may:
            who.submit(queue=name)
        else:
            assert name in refused(15007, who.submit, queue=name).text


def test_a_queues_list_of_groups(place, people):
    anna, ben, _ = people
    place.make_queue("groups", acl_group_enable="True", acl_groups=users.GROUP)
    said = refused(15007, anna.submit, queue="groups").text  # the group that a job runs as counts, not each of its owner's
    assert f"queue groups does not take jobs of group {ANNA} " in said
    ben.submit(("group_list", users.GROUP), queue="groups")
    place.set_queue("groups", "acl_groups", ANNA)
    anna.submit(queue="groups")
    assert f"group {BEN} " in refused(15007, ben.submit, queue="groups").text
    place.set_queue("groups", "acl_groups", f"-{ANNA},+")
    assert "groups" in refused(15007, anna.submit, queue="groups").text
    elsewhere = ben.submit(queue="workq")
    place.set_queue("groups", "acl_groups", ANNA)
    assert f"group {BEN} " in refused(15007, ben.api.move, elsewhere, "groups").text


def test_a_queues_list_of_hosts(place, people):
    anna, _, _ = people
    place.make_queue("hosts", acl_host_enable="True", acl_hosts="elsewhere")
    assert refused(15008, anna.submit, queue="hosts").text == "Access from host not allowed, or unknown host"
    place.set_queue("hosts", "acl_hosts", "*")
    anna.submit(queue="hosts")


def test_a_closed_list_keeps_a_job_from_being_moved_in(place, people):
    anna, _, _ = people
    place.make_queue("closed", acl_user_enable="True", acl_users=f"{BEN}@*")
    job = anna.submit()
    refused(15007, anna.api.move, job, "closed")
    place.api.move(job, "closed")
    assert place.stat(job)["queue"] == "closed"


# --- how many jobs may be queued

@pytest.mark.parametrize("limits,anna_gets,ben_gets,words", [
    ("[u:PBS_GENERIC=2]", 2, 2, "per-user limit"), ("[u:pbstest1=1]", 1, 3, "pbstest1"),
    ("[u:PBS_GENERIC=3],[u:pbstest2=0]", 3, 0, ""), ("[o:PBS_ALL=4]", 3, 1, "Maximum number of jobs"),
    ("[g:pbstest1=2]", 2, 3, "group pbstest1"), ("[p:PBS_GENERIC=4]", 3, 1, "per-project limit")])
@pytest.mark.parametrize("where", ["queue", "server"])
def test_max_queued_is_kept(place, people, where, limits, anna_gets, ben_gets, words):
    anna, ben, _ = people

    def fill(who):
        for n in range(3):
            try:
                who.submit(queue="limited")
            except api.PbsError as e:
                assert e.code == 15142 and words in e.text
                return n
        return 3

    with contextlib.suppress(api.PbsError):
        place.make_queue("limited")
    kind, name = (api.QUEUE, "limited") if where == "queue" else (api.SERVER, "")
    place.api.manager(api.MSET, kind, name, [("max_queued", limits)])
    try:
        assert (fill(anna), fill(ben)) == (anna_gets, ben_gets)
        if anna_gets == 2:
            anna.api.delete(anna.api.select([("Job_Owner", None, ANNA, api.EQ)])[0])
            anna.submit(queue="limited")
    finally:
        place.api.manager(api.MUNSET, kind, name, [("max_queued", "")])


def test_max_queued_res_is_kept(place, people):
    anna, ben, _ = people
    place.make_queue("amounts")
    place.api.manager(api.MSET, api.QUEUE, "amounts", [("max_queued_res", "mem", "[u:PBS_GENERIC=3gb]")])
    big = ("Resource_List", "mem", "2gb")
    anna.submit(big, queue="amounts")
    assert "mem" in refused(15143, anna.submit, big, queue="amounts").text
    anna.submit(("Resource_List", "mem", "1gb"), queue="amounts")
    ben.submit(big, queue="amounts")


def test_a_threshold_counts_waiting_jobs_only(place, people):
    anna, _, _ = people
    place.make_queue("threshold", queued_jobs_threshold="[u:PBS_GENERIC=1]")
    job = anna.submit(queue="threshold")
    assert "'Q' state" in refused(15142, anna.submit, queue="threshold").text
    anna.api.hold(job)
    anna.submit(queue="threshold")


def test_a_job_is_not_altered_beyond_the_bounds_of_its_queue(place, people):
    anna, _, _ = people
    place.make_queue("bounded")
    place.api.manager(api.MSET, api.QUEUE, "bounded", [("resources_max", "ncpus", "4")])
    refused(15036, anna.submit, ("Resource_List", "ncpus", "5"), queue="bounded")
    job = anna.submit(("Resource_List", "ncpus", "4"), queue="bounded")
    refused(15036, anna.api.alter, job, [("Resource_List", "ncpus", "5")])
    assert place.stat(job)["Resource_List"]["ncpus"] == "4"
    anna.api.alter(job, [("Resource_List", "ncpus", "3")])
    place.api.alter(job, [("Resource_List", "ncpus", "8")])


def test_the_longest_and_the_least_time_of_a_job_keep_the_bounds_of_its_queue(place, people):
    anna, _, _ = people
    place.make_queue("timed")
    place.api.manager(api.MSET, api.QUEUE, "timed",
                      [("resources_max", "walltime", "1:00:00"), ("resources_min", "walltime", "60")])

    def of(**times):
        return [("Resource_List", name, value) for name, value in times.items()]
    refused(15036, anna.submit, *of(min_walltime="60", max_walltime="1:00:01"), queue="timed")
    refused(15036, anna.submit, *of(min_walltime="2:00:00", walltime="30:00"), queue="timed")
    refused(15036, anna.submit, *of(min_walltime="59", max_walltime="30:00"), queue="timed")
    job = anna.submit(*of(min_walltime="60", max_walltime="1:00:00"), queue="timed")
    refused(15036, anna.api.alter, job, of(max_walltime="2:00:00"))


# --- a private complex of a user who is not root

def test_a_complex_of_a_user_is_closed_to_others(tmp_path_factory, people):
    top = os.path.join("/tmp", f"cede-own-{os.getpid()}")
    os.mkdir(top)
    os.chown(top, *[__import__("pwd").getpwnam(ANNA)[i] for i in (2, 3)])
    cx = Complex(nodes=0, sched=False)
    cx.dir = os.path.join(top, "complex")
    try:
        cx.command("pbs_complex", "start", "--nodes", 0, "--dir", cx.dir, user=ANNA)
        home = os.path.join(cx.dir, "home")
        assert stat.S_IMODE(os.stat(cx.dir).st_mode) & 0o077 == 0
        os.chmod(cx.dir, 0o755)
        assert stat.S_IMODE(os.stat(os.path.join(home, "pbs_server.sock")).st_mode) & 0o077 == 0
        with users.acting_as(ANNA):
            own = cx.connect()
        own.manager(api.MSET, api.SERVER, "", [("comment", "mine")])
        own.submit([("Output_Path", "/tmp/o"), ("Error_Path", "/tmp/e")], cx.script("true"))
        own.close()
        with pytest.raises(api.PbsError), users.acting_as(BEN):
            cx.connect().submit([], cx.script("true"))
    finally:
        cx.command("pbs_complex", "stop", "--purge", "--dir", cx.dir, user=ANNA, check=False)
        cx.command("rm", "-rf", top)
