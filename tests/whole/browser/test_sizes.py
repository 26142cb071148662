"""Long traces and hostile texts. Times are written to the log, for people; none is asserted."""

import pytest
from whole.browser.building import made_up, write
from whole.browser.waiting import wait_until

from presage.ui.page.data import page_data

LATENCY = """async () => {
  const times = [];
  for (let at = 0; at < 20; at++) {
    const begin = performance.now();
    document.dispatchEvent(new KeyboardEvent('keydown', {key: at % 2 ? 'k' : 'j'}));
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    times.push(performance.now() - begin);
  }
  return times.sort((a, b) => a - b)[10];
}"""
HOSTILE = {
    "script": "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>",
    "comment": "<!--<script>",
    "entities": "&lt;b&gt; &amp; ]]> @DATA@ @SCRIPT@",
    "emoji": "👩‍👩‍👧‍👦 🏴‍☠️ ﷽",
    "right to left": "שלום \u202ereversed\u202c مرحبا",
    "controls": "bell\x07 null\x00 escape\x1b[31m line\nfeed \u2028 \x9b",
    "template": "${window.hacked = 1} {{x}} %s \\u003c",
    "long": "x" * 1_000_000,
}


@pytest.mark.parametrize("length", [1_000, 5_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_long_traces_open_and_answer(opened, tmp_path, length, record_property):
    told = made_up(length)
    page = opened(write(tmp_path / "long.html", page_data(told)))
    assert page.selected == length // 2
    drawn, latency = page.page.evaluate("presage.drawMs"), page.page.evaluate(LATENCY)
    size = (tmp_path / "long.html").stat().st_size // 1024
    print(f"{length} steps, {size} KiB: drawn in {drawn:.0f} ms, a key in {latency:.0f} ms")
    record_property("drawn_ms", drawn)
    page.page.get_by_role("button", name="unfold all").click()
    rows = page.page.locator("#step- .row").count()
    assert rows <= 1_001 if length <= 1_000 else rows < 600
    page.press("Home")
    assert page.selected == 0
    page.press("End")
    assert page.selected == length
    page.page.locator("#chart").evaluate("chart => { chart.scrollTop = chart.scrollHeight / 3; }")
    wait_until(page.page, "at => document.getElementById(`step-${at}`) !== null", length // 3)
    page.page.locator(f"#step-{length // 3}").click()
    assert page.selected == length // 3
    assert page.page.locator("#step- .row").last.get_attribute("aria-setsize") == str(length + 1)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_shown_as_text_and_runs_nothing(opened, tmp_path, text):
    nodes = ("n0", text[:40] or "x", "n2")
    told = made_up(30, text, nodes, notes=((15, text),))
    page = opened(write(tmp_path / "hostile.html", page_data(told, command=text[:80])))
    assert page.page.evaluate("window.hacked") is None
    assert page.page.locator("img").count() == 0
    assert page.page.locator("script").count() == 2
    shown = page.page.locator("#side .note").text_content()
    if text.isascii() and text.isprintable() and len(text) < 1000:
        assert shown == text
    assert not any(ord(each) < 32 or each in "\u202e\x9b\x7f" for each in shown)
    page.press("j", "j", "c", "p", "/")
    page.page.keyboard.type("x")
    page.page.get_by_role("button", name="vs previous step").click()
    assert page.page.locator("#chart").evaluate("chart => chart.scrollWidth < 3000")
    assert page.page.evaluate("window.hacked") is None


def test_a_trace_without_steps_has_a_page(opened, tmp_path):
    told = made_up(0, critical=None, kind="safety")
    page = opened(write(tmp_path / "empty.html", page_data(told)))
    assert page.selected == 0
    page.press("j", "k", "[", "]", "p", "h", "v", "End", "PageDown")
    assert page.selected == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_colour_schemes_are_readable(opened, transport, scheme, tmp_path):
    """Contrast of text on its background, after WCAG; a picture is kept for people to look at."""
    page = opened(transport, color_scheme=scheme).page
    page.screenshot(path=tmp_path / f"{scheme}.png")
    low = page.evaluate("""() => {
      const light = text => {
        const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map(c => {
          c /= 255; return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
        });
        return .2126 * r + .7152 * g + .0722 * b;
      };
      const back = light(getComputedStyle(document.body).backgroundColor);
      const ratio = c => { const l = light(c);
        return (Math.max(l, back) + .05) / (Math.min(l, back) + .05); };
      const kinds = 'h1, h2, p, code, td, .pill, svg text, ins, del';
      return [...document.querySelectorAll(kinds)].map(each => [each.textContent.slice(0, 20),
        ratio(getComputedStyle(each)[each instanceof SVGElement ? 'fill' : 'color'])])
        .filter(([, r]) => r < 4.4);
    }""")
    assert low == []
