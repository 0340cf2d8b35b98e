"""Commands act on the server that is named, by the environment as well, and never on another that is nearer."""
import pytest

from harness.complex import Complex
from harness.remote import port_of


@pytest.fixture(scope="module")
def two():
    """Two private complexes on this host, with a job of the same number in each."""
    made = [Complex(nodes=0, sched=False), Complex(nodes=0, sched=False)]
    try:
        for cx in made:
            cx.start()
        yield made
    finally:
        for cx in made:
            cx.stop()


ELSEWHERE = [{"PBS_DEFAULT": "no.such.host.invalid:9"}, {"PBS_SERVER": "no.such.host.invalid"}, {"PBS_BATCH_SERVICE_PORT": "9"},
             {"PBS_DEFAULT": "127.0.0.1:{other}"}, {"PBS_SERVER": "127.0.0.1:{other}"}, {"PBS_BATCH_SERVICE_PORT": "{other}"},
             {"PBS_SERVER": "127.0.0.1:{other}", "PBS_DEFAULT": "127.0.0.1:{own}"}]


@pytest.mark.parametrize("said", ELSEWHERE)
def test_a_command_that_names_another_server_leaves_this_one_alone(two, said):
    here, there = two
    ports = {"own": port_of(here), "other": port_of(there)}
    jobs = [here.submit(Hold_Types="u"), there.submit(Hold_Types="u")]
    env = {name: value.format(**ports) for name, value in said.items()}
    number = jobs[0].split(".")[0]
    done = here.command("qdel", number, env=env, check=False)
    assert done.returncode and here.state(jobs[0]) == "H" and there.state(jobs[1]) == "H", done.stderr
    assert here.command("qstat", number, env=env, check=False).returncode
    for cx, job in zip(two, jobs):
        cx.api.delete(job)


@pytest.mark.parametrize("said", [{"PBS_DEFAULT": "{name}"}, {"PBS_SERVER": "{name}:{own}"}, {"PBS_SERVER": "127.0.0.1:{own}"},
                                  {"PBS_SERVER": "localhost:{own}", "PBS_DEFAULT": "127.0.0.1:{other}"}])
def test_a_command_that_names_this_server_acts_on_it(two, said):
    here, there = two
    words = {"own": port_of(here), "other": port_of(there), "name": here.api.stat("server")[0].name}
    job = here.submit(Hold_Types="u")
    here.command("qdel", job.split(".")[0], env={name: value.format(**words) for name, value in said.items()})
    assert here.state(job) is None
