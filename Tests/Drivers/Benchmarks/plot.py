"""Draws lines on logarithmic axes as SVG, legible on a light and on a dark page. No library."""

import math

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 380, 74, 46, 20, 52
# Distinct for the colour-blind (Okabe and Ito), and neither too light for white nor too dark for black.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]
GREY = "#7f7f7f"


def _decades(values):
    low, high = min(values), max(values)
    return math.floor(math.log10(low)), max(math.ceil(math.log10(high)), math.floor(math.log10(low)) + 1)


def _number(value):
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _text(x, y, text, anchor="middle", extra=""):
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{GREY}"{extra}>{text}</text>'


def draw(title, across, upward, lines):
    """The SVG of lines (name → [(x, y)], all above 0) under a title, with the names and units of both axes."""
    points = [point for line in lines.values() for point in line if point[1] > 0]
    (x_low, x_high), (y_low, y_high) = (_decades([point[axis] for point in points]) for axis in (0, 1))

    def x_of(value):
        return LEFT + (math.log10(value) - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)

    def y_of(value):
        return HEIGHT - BOTTOM - (math.log10(value) - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
             _text(WIDTH / 2, 18, title, extra=' font-size="14"')]
    for power in range(x_low, x_high + 1):
        x = x_of(10**power)
        parts.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="{GREY}" stroke-opacity="0.35"/>')
        parts.append(_text(x, HEIGHT - BOTTOM + 16, _number(10**power)))
    for power in range(y_low, y_high + 1):
        y = y_of(10**power)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{GREY}" stroke-opacity="0.35"/>')
        parts.append(_text(LEFT - 6, y + 4, _number(10**power), "end"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, across))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(_text(16, middle, upward, extra=f' transform="rotate(-90 16 {middle})"'))
    for number, (name, line) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [(x_of(x), y_of(y)) for x, y in line if y > 0]
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="'
                     + " ".join(f"{x:.1f},{y:.1f}" for x, y in places) + '"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        x = LEFT + 4 + number * 185
        parts.append(f'<path d="M{x} 34h18" stroke="{colour}" stroke-width="2"/>')
        parts.append(_text(x + 23, 38, name, "start"))
    return "\n".join(parts) + "\n</svg>\n"
