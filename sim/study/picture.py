"""SVG pictures of the numbers in a study's JSON: curves, dots, bars of vnodes. Texts are escaped; sizes are pixels.

Plain SVG by these few functions, not matplotlib: a page then needs no package and no file, has text that can be selected, and is the
same on every host.
"""
import html
import math

WIDTH, LEFT, RIGHT, BOTTOM, TOP = 860, 64, 16, 28, 22
COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b83280", "#718096")
BAR_COLOURS = ("#90b4d8", "#c53030", "#f6ad55", "#4a5568")   # run, urgent, suspended, ends in preemption
BAR_NAMES = ("runs", "urgent, runs", "suspended", "runs until it is preempted")
ROW = 11
TICKS = 6
UNITS_S = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def _nice(most):
    """Values of about TICKS ticks from 0 to `most`."""
    if most <= 0:
        return [0]
    rough = most / TICKS
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough)
    return [i * step for i in range(int(most / step + 1e-9) + 1)]


def span_label(seconds):
    """"3 d", "90 min": the largest unit of which there is at least one."""
    for size, name in UNITS_S:
        if seconds >= size:
            return f"{seconds / size:.3g} {name}"
    return "0" if seconds == 0 else f"{seconds:.2g} s"


def _time_ticks(length):
    unit = next((size for size, _ in UNITS_S if length >= 2 * size), 1)
    return [(t * unit, f"{t:g} {dict(UNITS_S)[unit]}") for t in _nice(length / unit)]


class Picture:
    """A frame with axes; x and y are scaled by the caller's limits, or their logarithms."""

    def __init__(self, title, height, width=WIDTH):
        self.width, self.height = width, height
        self.parts = [f'<text x="{LEFT}" y="14" class="t">{html.escape(title)}</text>']

    def x(self, value, most):
        return round(LEFT + (self.width - LEFT - RIGHT) * (value / most if most else 0), 1)

    def y(self, value, most):
        return round(self.height - BOTTOM - (self.height - BOTTOM - TOP) * (value / most if most else 0), 1)

    def text(self, x, y, text, anchor="middle"):
        self.parts.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}">{html.escape(text)}</text>')

    def rule(self, x1, y1, x2, y2):
        self.parts.append(f'<path class="g" d="M{x1} {y1}L{x2} {y2}"/>')

    def legend(self, names, colours):
        at = self.width - RIGHT
        for name, colour in reversed(list(zip(names, colours))):
            self.text(at, 14, name, "end")
            at -= 5.8 * len(name) + 6
            self.parts.append(f'<path d="M{at - 12} 10h12" stroke="{colour}" stroke-width="4"/>')
            at -= 22

    def x_ticks(self, ticks, most):
        for value, label in ticks:
            self.rule(self.x(value, most), TOP, self.x(value, most), self.height - BOTTOM)
            self.text(self.x(value, most), self.height - BOTTOM + 14, label)

    def y_ticks(self, ticks, most):
        for value, label in ticks:
            self.rule(LEFT, self.y(value, most), self.width - RIGHT, self.y(value, most))
            self.text(LEFT - 5, self.y(value, most) + 4, label, "end")

    def svg(self):
        return (f'<svg viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}" '
                f'role="img">{"".join(self.parts)}</svg>')


def curves(title, series, length, unit="", height=210):
    """series: [(name, [[time, value], ...])]."""
    p = Picture(title, height)
    most = max((v for _, points in series for _, v in points), default=0) or 1
    p.x_ticks(_time_ticks(length), length)
    p.y_ticks([(v, f"{v:g}{unit}") for v in _nice(most)], most)
    for (_, points), colour in zip(series, COLOURS * 9):
        if points:
            path = "L".join(f"{p.x(t, length)} {p.y(v, most)}" for t, v in points)
            p.parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.3"/>')
    p.legend([n for n, _ in series], COLOURS * 9)
    return p.svg()


def dots(title, points, height=280):
    """points: [[cpus, run_s, wait_s]]; width across, run time up, the wait by colour."""
    p = Picture(title, height)
    limits = ((60, "#2f855a", "wait < 1 min"), (3600, "#d69e2e", "< 1 h"), (6 * 3600, "#c05621", "< 6 h"),
              (math.inf, "#9b2c2c", "longer"))
    wide = max((math.log2(c) for c, _, _ in points if c > 0), default=1) + 0.5
    tall = max((math.log10(max(r, 1)) for _, r, _ in points), default=1) + 0.3
    p.x_ticks([(i, str(2 ** i)) for i in range(int(wide) + 1)], wide)
    p.y_ticks([(math.log10(s), span_label(s)) for s in (1, 10, 60, 600, 3600, 21600, 86400, 604800) if math.log10(s) < tall], tall)
    for cpus, run, wait in points:
        colour = next(c for limit, c, _ in limits if wait < limit)
        p.parts.append(f'<circle cx="{p.x(math.log2(max(cpus, 1)), wide)}" cy="{p.y(math.log10(max(run, 1)), tall)}" r="2.2" '
                       f'fill="{colour}" fill-opacity=".55"/>')
    p.legend([name for _, _, name in limits], [c for _, c, _ in limits])
    return p.svg()


def gantt(title, chart, length):
    """chart: {"vnodes": names, "bars": [[vnode, begin, end, kind, line]]}; several jobs on a vnode share its row."""
    rows, bars = chart["vnodes"], chart["bars"]
    length = max((b[2] for b in bars), default=length) or 1
    p = Picture(title, TOP + BOTTOM + ROW * len(rows))
    p.x_ticks(_time_ticks(length), length)
    for i, name in enumerate(rows):
        p.text(LEFT - 5, TOP + ROW * i + 9, name, "end")
    lanes = _lanes(bars)
    for bar, (lane, of) in zip(bars, lanes):
        row, begin, end, kind, line = bar
        height = (ROW - 2) / of
        p.parts.append(f'<rect x="{p.x(begin, length)}" y="{round(TOP + ROW * row + 1 + lane * height, 1)}" '
                       f'width="{max(0.6, round(p.x(end, length) - p.x(begin, length), 1))}" height="{round(height, 1)}" '
                       f'fill="{BAR_COLOURS[kind]}"><title>job {line}: {BAR_NAMES[kind]}, {span_label(begin)} to '
                       f'{span_label(end)}</title></rect>')
    p.legend(BAR_NAMES, BAR_COLOURS)
    return p.svg()


def _lanes(bars):
    """(lane, number of lanes of its row) of each bar: bars at one time on one vnode are beside each other."""
    ends, out, most = {}, [None] * len(bars), {}
    for i in sorted(range(len(bars)), key=lambda i: (bars[i][1], bars[i][4])):
        row, begin, end = bars[i][:3]
        lanes = ends.setdefault(row, [])
        lane = next((k for k, busy in enumerate(lanes) if busy <= begin), len(lanes))
        if lane == len(lanes):
            lanes.append(0)
        lanes[lane] = end
        out[i] = lane
        most[row] = len(lanes)
    return [(lane, most[bars[i][0]]) for i, lane in enumerate(out)]
