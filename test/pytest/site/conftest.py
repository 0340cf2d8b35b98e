"""Sites of hosts that are namespaces, see harness/site.py."""
import pytest

from harness import site as sites
from harness.site import Site


@pytest.fixture(scope="session")
def site_tree(tmp_path_factory):
    return sites.make_tree(str(tmp_path_factory.mktemp("tree")))


@pytest.fixture
def plan(site_tree):
    """plan(**how): a site of which nothing runs yet. It ends with the test."""
    made = []

    def of(tree=None, **how):
        made.append(Site(tree or site_tree, **how))
        return made[-1]
    yield of
    for s in made:
        s.stop()


@pytest.fixture
def make(plan):
    """make(**how): a site of its own for tests that change hosts."""
    return lambda **how: plan(**how).start()
