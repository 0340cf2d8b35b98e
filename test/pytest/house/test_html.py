"""`make html`: every page of the manual, with links that lead somewhere, an index, and a search that needs no other host."""
import html
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ["CEDE_BUILD"])


def has_markdown():
    return subprocess.run(["/usr/bin/python3", "-c", "import markdown"], stderr=subprocess.DEVNULL, check=False).returncode == 0


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of pages, made of the build's man pages."""
    if not shutil.which("mandoc") or not has_markdown():
        pytest.skip("mandoc and python3-markdown are not installed (make deps installs them where it can)")
    folder = tmp_path_factory.mktemp("html")
    (folder / "share").mkdir()
    (folder / "share/man").symlink_to(BUILD.resolve() / "share/man")
    subprocess.run(["/usr/bin/python3", TOP / "tools/html", folder], check=True, stdout=subprocess.DEVNULL)
    return folder / "html"


def links_of(page):
    return [html.unescape(h) for h in re.findall(r'<(?:a|link|script)\b[^>]*? (?:href|src)="([^"]*)"', page.read_text(encoding="utf-8"))]


def test_every_guide_and_every_man_page_is_a_page_that_the_index_names(site):
    named = set(links_of(site / "index.html"))
    guides = {f"guide/{p.stem}.html" for p in (TOP / "doc").rglob("*.md")}
    pages = {f"man/{p.name}.html" for p in (BUILD / "share/man").glob("man?/*.[1-8]")}
    assert len(guides) > 20 and len(pages) > 100 and (guides | pages) - named == set()
    assert [n for n in guides | pages if not (site / n).is_file()] == []


def test_each_link_leads_to_a_page_that_is_there_and_none_to_another_host(site):
    lost, ids = [], {}
    for page in site.rglob("*.html"):
        for link in links_of(page):
            if re.match("https?:", link):
                continue
            to, _, anchor = link.partition("#")
            target = (page.parent / to.partition("?")[0]).resolve() if to else page
            if not target.is_file():
                lost.append(f"{page.name}: {link}")
                continue
            if anchor and target not in ids:
                ids[target] = set(re.findall(r'\bid="([^"]*)"', target.read_text(encoding="utf-8")))
            if anchor and html.escape(anchor) not in ids[target] and anchor not in ids[target]:
                lost.append(f"{page.name}: {link}")
        if re.search(r'<(?:link|script|img)\b[^>]*? (?:href|src)="https?:', page.read_text(encoding="utf-8")):
            lost.append(f"{page.name}: something of another host")
    assert lost == []


def test_the_search_has_a_row_for_each_page_that_is_no_other_ones_second_name(site):
    search = (site / "search.js").read_text(encoding="utf-8")
    rows = set(re.findall(r'\{"u":"([^"]+)"', search))
    assert {"guide/preemption.html", "man/qsub.1.html", "man/pbs_accounting.5.html"} <= rows
    assert [r for r in rows if not (site / r).is_file()] == []


def test_without_its_tools_it_says_which_to_install(tmp_path):
    done = subprocess.run([sys.executable, "-c",
                           f"import runpy, sys; sys.argv = ['html', {str(tmp_path)!r}]; "
                           f"runpy.run_path({str(TOP / 'tools/html')!r}, run_name='__main__')"],
                          env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "apt-get install" in done.stderr and "mandoc" in done.stderr
