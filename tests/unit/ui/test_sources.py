"""The code on a page: the function that is meant, and no word of the machine."""

from pathlib import Path

import pytest

from presage.ui.page.sources import LINES_MAX, Places, excerpt

CODE = """class Node:
    def other(self):
        pass

    @on(Join)
    def joined(self, join):
        if join:
            return 1
        return 2

    def last(self):
        pass
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "project" / "node.py"
    path.parent.mkdir()
    path.write_text(CODE)
    return path


def test_a_function_is_shown_whole_with_what_is_around_it(file):
    found = excerpt(f"{file}:5")
    assert found["line"] == 5 and found["first"] == 3
    assert found["lines"][0] == "    pass" and found["lines"][2] == "@on(Join)"
    assert found["lines"][-1].startswith("def last")


def test_a_line_inside_a_function_is_shown_with_it(file):
    assert excerpt(f"{file}:8")["first"] == 3
    assert excerpt(f"{file}:8")["line"] == 8


def test_a_long_function_is_cut_but_never_before_the_line(tmp_path):
    file = tmp_path / "long.py"
    file.write_text("def f():\n" + "    x = 1\n" * 500)
    assert len(excerpt(f"{file}:1")["lines"]) == LINES_MAX + 2
    assert excerpt(f"{file}:300")["line"] <= 300 < 3 + len(excerpt(f"{file}:300")["lines"])


@pytest.mark.parametrize("place", ["", "x", "no.py:1", "{}:0x", "{}:999", "/:1", "\0:1"])
def test_what_is_not_there_is_not_shown(file, place):
    assert excerpt(place.format(file)) is None


def test_what_is_no_python_is_shown_as_lines(tmp_path):
    (tmp_path / "x.py").write_text("def (:\n  ]\nlast\n")
    assert excerpt(f"{tmp_path / 'x.py'}:2") == {
        "first": 1, "line": 2, "lines": ["def (:", "  ]", "last"],
    }  # fmt: skip


def test_places_are_relative_to_the_target_or_to_modules(file):
    places = Places(str(file))
    assert places.place(f"{file}:5") == "node.py:5"
    assert places.place("project/node.py:5") == "node.py:5"
    shipped = Path(__file__).parents[3] / "src" / "presage" / "systems" / "register.py"
    assert places.place(f"{shipped}:1").endswith("presage/systems/register.py:1")
    assert not places.place(f"{shipped}:1").startswith("/")
    assert places.place("/somewhere/else/entirely.py:3") == "entirely.py:3"
    assert places.place("") == ""


def test_texts_lose_the_paths_in_them(file):
    places = Places(f"{file}:system")
    assert places.text(f"ValueError: no at {file}:8 in joined") == (
        "ValueError: no at node.py:8 in joined"
    )
    assert places.text("at /a/b/c.py:1 and `/d/e.py`") == "at c.py:1 and `e.py`"
    assert places.text("1/2, a/b.py and x / y") == "1/2, a/b.py and x / y"


def test_a_target_may_have_options_behind_it(file):
    assert Places(f"{file} --mpi 3").place(f"{file}:1") == "node.py:1"


def test_code_is_told_by_its_short_place(file):
    found = Places(str(file)).excerpts([f"{file}:5", "", "/no/such.py:1"])
    assert list(found) == ["node.py:5"]
