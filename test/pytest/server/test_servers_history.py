"""What a server goes on telling of a job that it has given to another one."""
import pytest

from harness import api, work
from harness.servers import address, move
from harness.wait import until


@pytest.fixture
def keeping(pair):
    near, far = pair
    near.set_server("job_history_enable", "True")
    return near, far


def past(cx, job):
    """What -x says of it."""
    found = cx.api.stat("job", job, extend="x")
    assert len(found) == 1
    return found[0]


def is_unknown(cx, job):
    with pytest.raises(api.PbsError) as e:
        cx.api.stat("job", job)
    return e.value.code == 15001


def test_a_moved_job_stays_in_the_history_with_where_it_went(keeping):
    near, far = keeping
    job = work.submit(near, "true", "gone", options=("-h",), Priority=7)
    move(near, job, far)
    where = f"workq@{address(far)}"
    for _ in range(2):
        row = past(near, job)
        assert (row.state, row["substate"], row["queue"], row["Priority"]) == ("M", "94", where, "7")
        assert row["comment"] == f'Job has been moved to "{where}"' and "Exit_status" not in row
        assert is_unknown(near, job) and job not in near.api.select()
        assert near.api.locate(job) == address(far)
        near.crash_server()


def test_commands_show_a_moved_job_only_to_those_who_ask_for_history(keeping):
    near, far = keeping
    job = work.submit(near, "true", "gone", options=("-h",))
    move(near, job, far)
    assert near.command("qselect", "-x", "-s", "M").stdout.split() == [job]
    assert near.command("qselect", "-H").stdout.split() == [job]
    assert near.command("qselect").stdout == ""
    for option in ("-x", "-H"):
        shown = near.command("qstat", option).stdout
        assert f"{job} " in shown and " M " in shown
    full = near.command("qstat", "-xf", job).stdout
    assert "job_state = M" in full and f"queue = workq@{address(far)}" in full.replace("\n\t", "")
    assert "Unknown Job Id" in near.command("qstat", job, check=False).stderr
    refused = near.command("qalter", "-p", "3", "99.near", check=False)
    assert "Unknown Job Id" in refused.stderr


def test_the_history_of_a_moved_job_can_be_deleted_as_any_other(keeping):
    near, far = keeping
    job = work.submit(near, "true", "gone", options=("-h",))
    move(near, job, far)
    near.command("qdel", "-x", job)
    until(lambda: not near.api.select(extend="x"), "no row")
    assert far.state("0.far") == "H"


def test_subjobs_of_a_moved_array_follow_it_in_the_history(keeping):
    near, far = keeping
    job = work.submit(near, "true", "many", options=("-h", "-J", "1-3"))
    move(near, job, far)
    rows = near.api.stat("job", job, extend="xt")
    assert [(r.name, r.state) for r in rows] == [(job.replace("[]", index), "M")
                                                for index in ("[]", "[1]", "[2]", "[3]")]
    one = past(near, job.replace("[]", "[2]"))
    assert one.state == "M" and one["array_id"] == job and "Exit_status" not in one
    assert all(is_unknown(near, job.replace("[]", index)) for index in ("[]", "[2]", "[2-3]", "[7]"))


def test_a_job_that_comes_home_is_one_job_again_and_found_by_its_first_name(keeping):
    near, far = keeping
    job = work.submit(near, "true", "home", options=("-h",))
    move(near, job, far)
    move(far, "0.far", near)
    assert [(j.name, j.state) for j in near.api.stat("job", extend="x")] == [("1.near", "H")]
    assert past(far, "0.far").state == "M"
    for cx in keeping:
        cx.crash_server()
    assert near.api.stat("job", job)[0].name == "1.near" and near.api.locate(job) == "near"
    move(near, "1.near", far)
    assert near.api.locate(job) == address(far) and far.api.stat("job", job)[0].name == "1.far"
    assert [j.name for j in near.api.stat("job", extend="x")] == ["1.near"]


def test_where_no_history_is_kept_a_moved_job_leaves_none(pair):
    near, far = pair
    job = work.submit(near, "true", "gone", options=("-h",))
    move(near, job, far)
    near.set_server("job_history_enable", "True")
    assert not near.api.select(extend="x") and near.api.locate(job) == address(far)


def test_a_job_with_more_attributes_than_travel_is_refused_and_stays_as_it_was(pair):
    near, far = pair
    names = [f"r{i}" for i in range(2100)]
    near.api.manager(api.CREATE, api.RESOURCE, ",".join(names), [("type", None, "long")])
    job = near.submit("true", options=("-h",))
    for attribute in ("Resource_List", "estimated"):
        near.api.alter(job, [(attribute, name, "1") for name in names])
    with pytest.raises(api.PbsError) as e:
        move(near, job, far)
    assert e.value.code == 15029 and "at most 4096" in str(e.value) and "qalter" in str(e.value)
    assert near.state(job) == "H" and not far.api.select()
