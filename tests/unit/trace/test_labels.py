"""Texts of events: shortened where that hides least, and never so that two look the same."""

from hypothesis import given
from hypothesis import strategies as st

from presage.trace.labels import body_and_ends, fitted, told_apart
from presage.trace.trace import TraceStep

APPEND = "Append(term=2, entries=[Entry(term=1, command='put'), Entry(term=2, command='get')])"


def test_what_fits_is_told_in_full():
    assert fitted(APPEND, len(APPEND)) == APPEND


def test_the_innermost_is_closed_first_and_the_names_stay_longest():
    assert fitted(APPEND, 60) == "Append(term=2, entries=[Entry(…), Entry(…)])"
    assert fitted(APPEND, 40) == "Append(term=2, entries=[2 items])"
    assert fitted(APPEND, 20) == "Append(term=2, …)"
    assert fitted(APPEND, 5) == "Append(…)"


def test_a_count_is_never_taken_for_a_value():
    assert fitted("Ask(ballot=(1000000, 'server number one'))", 25) == "Ask(ballot=(2 items))"


def test_what_stands_behind_a_value_stays():
    text = f"{list(range(40))} to rank 0, tag 7"
    assert fitted(text, 30) == "[0, 1, 2, …] to rank 0, tag 7"
    assert fitted(f"{'x' * 90!r} to `server`", 30) == "'xxxxxxxxxxxxxxx…' to `server`"


def test_a_bracket_in_a_string_is_text():
    text = "Say(text='a (b', more=[1, 2, 3, 4, 5, 6, 7, 8, 9])"
    assert fitted(text, 40) == "Say(text='a (b', more=[9 items])"


def test_the_field_that_differs_is_shown():
    other = APPEND.replace("'get'", "'cas'")
    short = told_apart([APPEND, other], 40)
    assert short[APPEND] == "Append(…, entries=[…, Entry(…, command='get')])"
    assert short[other] == "Append(…, entries=[…, Entry(…, command='cas')])"


def test_ascii_outputs_have_their_own_mark():
    assert fitted(APPEND, 20, mark="...") == "Append(term=2, ...)"


def test_a_message_is_told_with_its_ends():
    facts = {"index": 1, "node": "n2", "fingerprint": 1}
    step = TraceStep(kind="deliver", label="Ask n0 -> n2", detail="Ask(a=1)", source="n0", **facts)
    assert body_and_ends(step) == ("Ask(a=1)", " n0 -> n2")
    step = TraceStep(kind="deliver", label="Ask n0 -> n2", detail="Ask()", source="n0", **facts)
    assert body_and_ends(step) == ("Ask", " n0 -> n2")
    assert body_and_ends(TraceStep(kind="crash", label="crash", **facts)) == ("", "")
    assert body_and_ends(TraceStep(kind="timer", label="tick(1)", **facts)) == ("tick(1)", "")


def test_long_and_deep_texts_are_read_too():
    for text in ("[" * 5_000, "(1, " * 2_000, "'" * 3_001, "{" * 90 + "x" * 90 + "}" * 90):
        assert fitted(text, len(text)) == text
        fitted(text, 30)


PARTS = st.sampled_from(
    ["a", "1", "'b, c'", "(", ")", "[", "]", "{", "}", ", ", "=", ": ", "'", "…"]
)


@given(st.lists(st.lists(PARTS, max_size=40).map("".join), max_size=8), st.integers(0, 60))
def test_different_texts_stay_different_whatever_they_are(texts, room):
    short = told_apart(texts, room)
    assert set(short) == set(texts)
    assert len(set(short.values())) == len(set(texts))


@given(st.lists(PARTS, max_size=40).map("".join), st.integers(0, 60))
def test_no_text_becomes_longer(text, room):
    assert len(fitted(text, room)) <= max(len(text), room)


def test_what_is_left_out_at_the_end_leaves_no_comma_behind():
    texts = [f"RequestVote(term={n}, last_log_index=0, last_log_term=0)" for n in (1, 2)]
    assert list(told_apart(texts, 24).values()) == [
        "RequestVote(term=1, …)",
        "RequestVote(term=2, …)",
    ]
