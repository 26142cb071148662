"""Draw how long calm walks take to come right, per system: figure 2 of MaceMC's paper.

Plain SVG from the data that `make catalogue` leaves. Run by `make figures`.
"""

from __future__ import annotations

import json
import sys
from math import log10
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "benchmarks" / "catalogue.json"
FIGURE = ROOT / "docs" / "images" / "steps-to-live.svg"

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 400, 64, 16, 16, 52
DECADES = 4  # 1 to 10,000 steps
# Told apart without colour, too.
STYLES = {
    "mace_transport": ("#2f6db3", ""),
    "randtree": ("#b3542f", "8 4"),
    "chord": ("#3f8f5f", "2 3"),
    "pastry": ("#7a4fa3", "10 3 2 3"),
}


def across(steps: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * min(log10(max(steps, 1)) / DECADES, 1)


def up(share: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share


def curve(lengths: list[int], colour: str, dashes: str) -> str:
    """The share of walks that recovered within so many steps."""
    points = [f"{across(1):.1f},{up(0):.1f}"]
    for at, steps in enumerate(lengths, 1):
        points.append(f"{across(steps):.1f},{up(at / len(lengths)):.1f}")
    points.append(f"{across(10**DECADES):.1f},{up(1):.1f}")
    thinned = points[:: max(1, len(points) // 400)] + points[-1:]
    return (
        f'<polyline fill="none" stroke="{colour}" stroke-width="2"'
        f' stroke-dasharray="{dashes}" points="{" ".join(thinned)}"/>'
    )


def figure(data: dict[str, list[int]]) -> str:
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        ' font-family="sans-serif" font-size="13">',
        "<title>Share of calm walks that recovered within so many steps</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for decade in range(DECADES + 1):
        x = across(10**decade)
        lines.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#dddddd"/>')
        text = f"{10**decade:,}"
        lines.append(f'<text x="{x:.1f}" y="{HEIGHT - 30}" text-anchor="middle">{text}</text>')
    for tenth in range(0, 11, 2):
        y = up(tenth / 10)
        lines.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#dddddd"/>')
        lines.append(
            f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tenth * 10} %</text>'
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    lines.append(f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">steps to live</text>')
    for at, (system, lengths) in enumerate(data.items()):
        colour, dashes = STYLES[system]
        lines.append(curve(sorted(lengths), colour, dashes))
        y = TOP + 22 + 20 * at
        lines.append(
            f'<path d="M{LEFT + 12} {y - 4}h28" stroke="{colour}" stroke-width="2"'
            f' stroke-dasharray="{dashes}"/>'
        )
        lines.append(f'<text x="{LEFT + 48}" y="{y}">{system}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def main() -> int:
    if not DATA.exists():
        print("figures: there is no data yet; run `make catalogue` first", file=sys.stderr)
        return 1
    lengths: dict[str, list[int]] = {}
    for each in json.loads(DATA.read_text(encoding="utf-8"))["correct"]:
        lengths.setdefault(each["system"], []).extend(each["lengths"])
    FIGURE.write_text(figure(lengths), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
