"""What the page is given: complete, as documented, and harmless as text."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from unit.execution.test_frames import hunted_violation
from whole.browser.building import made_up

from presage.execution.frames import frames
from presage.systems import randtree
from presage.trace.diff import Change, same
from presage.trace.patch import apply
from presage.trace.plain import TYPE
from presage.ui.page.assemble import embedded
from presage.ui.page.data import KEY_EVERY, changes, page_data
from presage.ui.page.page import SCRIPTS, render

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "report.md"
OBJECTS = {
    "page": lambda data: [data],
    "story": lambda data: [data["main"], *(other["story"] for other in data["others"])],
    "step": lambda data: data["main"]["steps"],
    "arrow": lambda data: data["main"]["arrows"],
    "fold": lambda data: data["main"]["folds"],
    "other": lambda data: data["others"],
}


@pytest.fixture(scope="module")
def told():
    system, violation = hunted_violation(randtree, "RT-init", 9, "random")  # with a reset
    scenes = frames(system, violation.trace)
    live = (violation.live, frames(system, violation.live))
    return page_data((violation.trace, scenes), [("live", "live", live)]), scenes, live[1]


def documented(name: str) -> set[str]:
    """The keys of one object in the reference."""
    text = REFERENCE.read_text(encoding="utf-8")
    section = re.search(rf"^### `{name}`\n(.*?)(?=^#|\Z)", text, re.M | re.S)
    assert section, f"{REFERENCE.name} has no section `{name}`"
    return {
        key
        for row in re.findall(r"^\| (`.*?) \|", section[1], re.M)
        for key in re.findall(r"`(\w+)`", row)
    }


@pytest.mark.parametrize("name", OBJECTS)
def test_every_object_has_exactly_the_keys_that_are_documented(told, name):
    objects = OBJECTS[name](told[0])
    assert objects
    for each in objects:
        assert set(each) == documented(name)


def test_the_script_reads_only_keys_that_are_there(told):
    folder = Path(__file__).parents[3] / "src/presage/ui/page"
    assert {path.name for path in folder.glob("*.js")} == set(SCRIPTS)
    script = "\n".join((folder / name).read_text("utf-8") for name in SCRIPTS)
    known = {
        "data": documented("page") | {"explore"},
        "main": documented("story"), "story": documented("story"),
        "arrow": documented("arrow"), "other": documented("other"), "step": documented("step"),
    }  # fmt: skip
    own = {"length", "from", "js"}
    for name, keys in known.items():
        used = set(re.findall(rf"(?<![\w.]){name}\.(\w+)", script)) - own
        assert used <= keys, name


def revived(value):
    """Data as the script reads it: tuples come as objects, and so do floats without a fraction."""
    if isinstance(value, dict) and value.get(TYPE) == "tuple":
        return tuple(map(revived, value["items"]))
    if isinstance(value, dict):
        return {name: revived(each) for name, each in value.items()}
    return list(map(revived, value)) if isinstance(value, list | tuple) else value


def test_states_are_the_first_one_and_what_each_step_changed(told):
    data, scenes, _ = told
    data = revived(data)
    state = data["main"]["keys"]["0"]
    for scene in scenes[1:]:
        changes = [Change(mark, tuple(path), *values) for mark, path, *values in
                   data["main"]["steps"][scene.index]["changes"]]  # fmt: skip
        state = apply(state, changes)
        assert same(state, scene.state)
        if scene.index % KEY_EVERY == 0:
            assert same(data["main"]["keys"][str(scene.index)], state)


def test_another_trace_is_compared_from_where_it_parts(told):
    data, scenes, live = told
    [other] = data["others"]
    at = other["from"]
    assert scenes[at - 1].step == live[at - 1].step and scenes[at].step != live[at].step
    assert min(map(int, other["diffs"])) == at == data["opens"]
    assert max(map(int, other["diffs"])) == other["compared"]


def test_messages_end_where_they_were_handled_or_lost(told):
    data, scenes, _ = told
    main = data["main"]
    for number, arrow in enumerate(main["arrows"]):
        assert number in main["steps"][arrow["sent"]]["sends"]
        assert (arrow["step"] is None) == (arrow["fate"] == "under way")
        if arrow["step"] is not None:
            assert arrow["step"] >= arrow["sent"]
        if arrow["fate"] in ("delivered", "dropped"):
            assert main["steps"][arrow["step"]]["recv"] == number
        if arrow["fate"] == "under way":
            text = f"{arrow['from']} -> {arrow['to']} {arrow['text']}"
            assert text in scenes[-1].state["network"]["messages"]
    assert {"delivered", "lost"} <= {arrow["fate"] for arrow in main["arrows"]}


class Found(HTMLParser):
    """The tags of a page, and the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not any(name in ("src", "href") for name, _ in attrs)
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, text):
        if self.tags[-1:] == ["script"]:
            self.scripts[-1] += text


def test_hostile_texts_stay_data():
    hostile = "</script><img src=x>&amp;@DATA@@STYLE@<!--\u2028"
    data = page_data(made_up(5, hostile, ("n0", hostile)), command=hostile)
    page = render(data)
    found = Found(page)
    assert "img" not in found.tags and found.tags.count("script") == 2
    assert json.loads(found.scripts[0]) == data
    assert "<" not in embedded(data)
    assert re.search(r"default-src 'none'.*script-src 'sha256-[\w+/=]+'", page)


def test_nothing_is_loaded_from_anywhere():
    page = render(page_data(made_up(3)))
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\((?!#)", page)


def test_a_page_shows_no_file_that_only_a_trace_names(tmp_path):
    secret = tmp_path / "secret.py"
    secret.write_text("PASSWORD = 'swordfish'\n")
    page = render(page_data(made_up(3, source=f"{secret}:1")))
    assert "swordfish" not in page and str(tmp_path) not in page


def test_a_page_says_nothing_of_the_machine(told):
    data, scenes, _ = told
    assert str(Path(__file__).parents[3]) not in json.dumps(data)
    assert not any(step["source"].startswith("/") for step in data["main"]["steps"])
    assert {step["source"] for step in data["main"]["steps"]} - {""} <= set(data["sources"])


def test_a_step_has_the_code_of_its_handler(told):
    data, *_ = told
    step = next(step for step in data["main"]["steps"] if "Join(" in step["detail"])
    code = data["sources"][step["source"]]
    line = code["lines"][code["line"] - code["first"]]
    assert line.startswith(("def ", "@on")) and step["source"].startswith("presage/systems/")


def test_no_two_events_have_a_text_in_common(told):
    main = told[0]["main"]
    owners = {}
    for step in main["steps"][1:]:
        for text in main["texts"][step["text"]]:
            event = (step["detail"] or step["label"], text.rpartition(") ")[2])
            assert owners.setdefault(text, event)[0] == event[0]
    joins = [step for step in main["steps"] if step["label"].startswith("JoinReply ")]
    forms = main["texts"][joins[0]["text"]]
    assert forms == sorted(forms, key=len)
    assert forms[-1] == f"{joins[0]['detail']} {joins[0]['label'].split(' ', 1)[1]}"


def test_values_keep_what_python_tells_apart():
    before = {"n": {"a": (1,), "b": [1], "c": 1.0, "d": 1}}
    after = {"n": {"a": [1], "b": (1,), "c": 1, "d": 1.0}}
    told = changes(before, after)
    assert told == [
        ["M", ["n", "a"], {"": "tuple", "items": [1]}, [1]],
        ["M", ["n", "b"], [1], {"": "tuple", "items": [1]}],
        ["M", ["n", "c"], {"": "1.0"}, 1],
        ["M", ["n", "d"], 1, {"": "1.0"}],
    ]
