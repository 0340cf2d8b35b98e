"""Accounting records as PBS writes them: which, when, with what in them; none lost and none doubled."""
import re

import pytest

from harness import api
from harness.complex import Complex
from harness.wait import until
from harness.work import account_lines

LINE = re.compile(r"^\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;([A-Za-z]);([^;]*);(.*)$")


@pytest.fixture(scope="module")
def kept():
    c = Complex(nodes=1, ncpus=4)
    try:
        yield c.start()
    finally:
        c.stop()


@pytest.fixture
def place(kept):
    kept.clean()
    return kept


class Record:
    def __init__(self, letter, name, text):
        self.letter, self.name, self.text = letter, name, text

    @property
    def fields(self):
        """key=value of the text; values with blanks are quoted."""
        return {k: v.strip("\"'") for k, v in re.findall(r"""(\S+?)=("[^"]*"|'[^']*'|\S*)""", self.text)}


def records(cx, job, letters=None):
    found = []
    for line in account_lines(cx):
        m = LINE.match(line)
        assert m, f"no accounting line: {line!r}"
        if m[2] == job and (letters is None or m[1] in letters):
            found.append(Record(*m.groups()))
    return found


def wait_for(cx, job, letters):
    """Until the job's records are these, in order; they come after the commit."""
    until(lambda: "".join(r.letter for r in records(cx, job)) == letters,
          lambda: f"records {letters} of {job}; there are {[(r.letter, r.text) for r in records(cx, job)]}")
    return records(cx, job)


def test_a_job_that_runs_to_its_end_is_queued_started_and_ended(place):
    job = place.submit("exit 3", select="1:ncpus=2:mem=100mb", Account_Name="chem 7", project="p1", Job_Name="short")
    queued, started, ended = wait_for(place, job, "QSE")
    for r in (queued, started, ended):
        f = r.fields
        assert f["account"] == "chem 7" and f["project"] == "p1" and f["jobname"] == "short"
        assert f["queue"] == "workq" and f["Resource_List.ncpus"] == "2" and f["Resource_List.nodect"] == "1"
        assert f["Resource_List.select"] == "1:ncpus=2:mem=100mb" and f["user"] and f["group"]
        assert int(f["ctime"]) <= int(f["qtime"]) and f["etime"]
    assert '"chem 7"' in queued.text and "exec_vnode" not in queued.fields
    f = started.fields
    assert f["exec_vnode"] == "(n1:ncpus=2:mem=102400kb)" and f["exec_host"].startswith("n1/0*2")
    assert f["resource_assigned.ncpus"] == "2" and int(f["start"]) >= int(f["qtime"])
    f = ended.fields
    assert f["Exit_status"] == "3" and f["run_count"] == "1" and int(f["end"]) >= int(f["start"])
    assert "session" in f and re.fullmatch(r"\d\d:\d\d:\d\d", f["resources_used.walltime"])


def test_the_fields_are_in_the_order_of_the_guide(place):
    job = place.submit("true")
    keys = [k for k in ("user", "group", "project", "jobname", "queue", "ctime", "qtime", "etime", "start",
                        "exec_host", "exec_vnode", "Resource_List.ncpus")]
    started = wait_for(place, job, "QSE")[1]
    assert [k for k in started.fields if k in keys] == keys


def test_a_deletion_says_who_asked(place):
    job = place.submit(Hold_Types="u")
    place.api.delete(job)
    until(lambda: records(place, job, "D"), "a D record")
    d, = records(place, job, "D")
    assert re.fullmatch(r"requestor=\w+@\S+", d.text.strip())


def test_a_running_job_that_is_deleted_ends_too(place):
    job = place.submit("sleep 600")
    place.wait(job)
    wait_for(place, job, "QS")
    place.api.delete(job)
    until(lambda: records(place, job, "E"), "an E record")
    assert [r.letter for r in records(place, job)] == ["Q", "S", "D", "E"]
    assert int(records(place, job, "E")[0].fields["Exit_status"]) != 0


def test_a_requeued_job_has_a_record_of_each_run(place):
    job = place.submit("sleep 600")
    place.wait(job)
    wait_for(place, job, "QS")
    place.set_server("scheduling", "False")
    place.api.rerun(job)
    place.wait(job, "Q")
    place.set_server("scheduling", "True")
    place.wait(job, "R")
    until(lambda: len(records(place, job, "S")) == 2, "a second start")
    assert "".join(r.letter for r in records(place, job)).replace("Q", "", 1).startswith("SR")
    r, = records(place, job, "R")
    assert r.fields["run_count"] == "1" and r.fields["Exit_status"] == "-11"


def test_suspending_and_resuming_are_recorded(place):
    job = place.submit("sleep 600")
    place.wait(job)
    wait_for(place, job, "QS")
    place.set_server("scheduling", "False")
    place.api.signal(job, "suspend")
    place.wait(job, "S")
    place.api.signal(job, "resume")
    place.wait(job, "R")
    place.set_server("scheduling", "True")
    until(lambda: records(place, job, "r"), "an r record")
    assert [r.letter for r in records(place, job)][-2:] == ["z", "r"]
    assert "resources_used.walltime" in records(place, job, "z")[0].fields


@pytest.mark.parametrize("change,text", [
    (("Priority", "150"), "Priority=150"), (("comment", "two words"), 'comment="two words"'),
    (("Resource_List", "walltime", "3600"), "Resource_List.walltime=01:00:00"),
    (("Resource_List", "software", "x"), "Resource_List.software=x")])
def test_an_alteration_is_recorded_as_it_is_stored(place, change, text):
    job = place.submit(Hold_Types="u")
    place.api.alter(job, [change])
    until(lambda: records(place, job, "a"), "an a record")
    assert records(place, job, "a")[0].text.strip() == text


def test_the_first_record_of_an_array_has_its_indices(place):
    job = place.submit(Hold_Types="u", array_indices_submitted="1-9:2")
    until(lambda: records(place, job, "Q"), "a Q record")
    assert records(place, job, "Q")[0].fields["array_indices"] == "1-9:2"


def test_an_unset_resource_is_recorded_as_unset(place):
    job = place.submit(Hold_Types="u", l_software="x")
    place.api.alter(job, [("Resource_List", "software", "")])
    until(lambda: records(place, job, "a"), "an a record")
    assert records(place, job, "a")[0].text.strip() == "Resource_List.software=UNSET"


def test_a_moved_job_is_queued_again(place):
    place.make_queue("elsewhere")
    job = place.submit(Hold_Types="u")
    place.api.move(job, "elsewhere")
    wait_for(place, job, "QQ")
    assert [r.fields["queue"] for r in records(place, job)] == ["workq", "elsewhere"]


def test_a_refused_request_leaves_no_record(place):
    job = place.submit(Hold_Types="u")
    with pytest.raises(api.PbsError):
        place.api.alter(job, [("Priority", "high")])
    with pytest.raises(api.PbsError):
        place.submit(Priority="high")
    last = place.submit(Hold_Types="u")
    wait_for(place, last, "Q")
    assert "".join(r.letter for r in records(place, job)) == "Q"


@pytest.mark.parametrize("name", ["two words", 'say "hi"', "new\nline", "semi;colon", "it's"])
def test_a_record_is_one_line_whatever_it_holds(place, name):
    job = place.submit(Hold_Types="u", Account_Name=name)
    wait_for(place, job, "Q")
    assert len([line for line in account_lines(place) if f";{job};" in line]) == 1


@pytest.mark.complex(nodes=0, sched=False)
def test_no_record_is_lost_or_doubled_when_the_server_is_killed(cx):
    """Jobs are submitted without a pause while the server is killed again and again."""
    accepted = []
    for _ in range(6):
        a = cx.again()
        tickets = [a.submit_send([("Output_Path", "/tmp/o"), ("Error_Path", "/tmp/e")], cx.script("true"))
                   for _ in range(30)]
        accepted += [a.submit_recv(t) for t in tickets[:15]]
        cx.kill("server")
        cx.restart("server")
    cx.again()
    there = set(cx.api.select())
    assert set(accepted) <= there
    cx.stop_daemon("server")
    queued = [LINE.match(line)[2] for line in account_lines(cx) if LINE.match(line)[1] == "Q"]
    assert len(queued) == len(set(queued)), "a record twice"
    assert set(queued) == there


def test_the_name_of_an_owner_in_a_grid_comes_first(place):
    job = place.submit("true", Hold_Types="u", gridname="/C=DE/CN=Anna B")
    wait_for(place, job, "Q")
    text = records(place, job)[0].text
    assert text.startswith('gridname="/C=DE/CN=Anna B" user=')


def test_the_account_is_always_in_quotes(place):
    job = place.submit("true", Hold_Types="u", Account_Name="chem")
    wait_for(place, job, "Q")
    assert ' account="chem" project=' in records(place, job)[0].text


def test_the_record_of_a_suspension_has_the_resources_given_back(place):
    place.set_server("restrict_res_to_release_on_suspend", "ncpus")
    job = place.submit("sleep 600")
    place.wait(job)
    wait_for(place, job, "QS")
    place.set_server("scheduling", "False")
    place.api.signal(job, "suspend")
    z = until(lambda: records(place, job, "z"), "a z record")[0]
    place.set_server("scheduling", "True")
    place.api.manager(api.MUNSET, api.SERVER, "", [("restrict_res_to_release_on_suspend", "")])
    place.api.delete(job)
    assert z.fields["resources_released"] == "(n1:ncpus=1)"
