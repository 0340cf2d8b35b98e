"""What a cycle of the scheduler costs: at the sizes for which there are aims, and how it grows (test/cost/sched)."""
import math
import os
import subprocess

from show import ms, note, row

MOST = 1.1  # exponent of what is linear, sorts, or costs the same whatever the size
AIMS_MS = {"first": 1000, "end": 10, "strict-first": 3000, "strict-end": 50, "urgent-1000": 50, "urgent-10000": 500,
           "strict-urgent-1000": 50, "strict-urgent-10000": 500}
WORDS = {"first": "first cycle", "asked": "asked cycle, nothing to do", "end": "one job ends, the next runs",
         "urgent-1000": "urgent job over 1,000 victims", "urgent-10000": "urgent job over 10,000 victims",
         "explain": "the last job that waits is explained"}
COLOURS = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad")
WIDTH, HEIGHT, EDGE = 520, 340, 60


def exponent(points):
    """Slope of the straight line through the logarithms, by least squares."""
    xs, ys = [math.log(n) for n, _ in points], [math.log(max(steps, 1)) for _, steps in points]
    x0, y0 = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - x0) * (y - y0) for x, y in zip(xs, ys)) / sum((x - x0) ** 2 for x in xs)


def draw(path, title, lines):
    """lines: {name: [(size, steps)]}. Both axes are logarithmic, so a straight line has its exponent as slope."""
    sizes = [n for points in lines.values() for n, _ in points]
    steps = [max(s, 1) for points in lines.values() for _, s in points]

    def at(n, s):
        x = math.log(n / min(sizes)) / math.log(max(sizes) / min(sizes))
        y = math.log(max(s, 1) / min(steps)) / math.log(max(steps) / min(steps) + 1e-9)
        return f"{EDGE + x * (WIDTH - 2 * EDGE):.1f},{HEIGHT - EDGE - y * (HEIGHT - 2 * EDGE):.1f}"

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{EDGE}" y="24" font-size="14">steps of a cycle, {title} doubled</text>',
           f'<rect x="{EDGE}" y="{EDGE}" width="{WIDTH - 2 * EDGE}" height="{HEIGHT - 2 * EDGE}" fill="none" stroke="#999"/>',
           f'<text x="4" y="{HEIGHT - EDGE}">{min(steps):.1e}</text><text x="4" y="{EDGE + 4}">{max(steps):.1e}</text>']
    for n in sorted(set(sizes)):
        x = at(n, min(steps)).split(",")[0]
        out.append(f'<text x="{x}" y="{HEIGHT - EDGE + 18}" text-anchor="middle">{n:,}</text>')
    for i, (name, points) in enumerate(lines.items()):
        colour = COLOURS[i % len(COLOURS)]
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(at(*p) for p in points)}"/>')
        out.append(f'<text x="{EDGE + 110 * i}" y="{HEIGHT - 12}" fill="{colour}">{name} {exponent(points):.2f}</text>')
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out + ["</svg>\n"]))


class Curves:
    def cycle(self):
        print("A cycle, the scheduler's core alone (one processor)")
        program = os.path.join(os.environ["CEDE_BUILD"], "test/bench/sched_aims")
        lines = subprocess.run([program, *(["--full"] if self.full else [])], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        for nodes, jobs, classes, what, took_ms in (line.split() for line in lines):
            if what == "mirror":
                row(f"{int(nodes):,} vnodes, {int(jobs):,} jobs: memory of the scheduler's core a job", f"{took_ms} bytes", "1,024 bytes")
                continue
            plain = what.removeprefix("strict-")
            aim = AIMS_MS.get(what) if nodes == "10000" else None
            row(f"{int(nodes):,} vnodes, {int(jobs):,} jobs, {int(classes):,} classes{', strict' * (plain != what)}: {WORDS[plain]}",
                ms(float(took_ms) / 1000), f"{aim} ms" if aim else "")
        self._reservations()

    def _reservations(self):
        print("  with 1,000 reservations: 10,000 vnodes, 8,000 jobs run")
        program = os.path.join(os.environ["CEDE_BUILD"], "test/bench/resv_cost")
        said = [line.split("\t") for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()]
        for what, *took in said:
            if what.startswith("confirm"):
                row(f"one more of 50 occurrences beside 1,000 such, {what.split()[1]}", f"{took[0]} ms", "100 ms")
        alone = {what.split()[1]: float(took[1]) for what, *took in said if what.startswith("none")}
        for what, *took in said:
            where, order = what.split()[:2]
            if where != "confirm":
                row(f"4,000 jobs come; reservations on {where} of the vnodes, {order} order", f"{took[1]} ms")
                note(f"{float(took[1]) / alone[order]:.1f} times that without (aim 2 in plain order); the first cycle took {took[0]}, "
                     f"one with nothing new {took[2]} ms; {took[3]} jobs run")

    def foresee(self):
        """Of each job that waits its forecast when it came, against its start: test/cost/sched/foresee.c."""
        print("Forecasts of pbs_explain against what happened: 2,000 jobs on 64 processors that are nearly full")
        lines = subprocess.run([os.path.join(os.environ["CEDE_BUILD"], "test/bench/foresee")], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        for order, use, waited, known, wait_s, error_s, early in (line.split() for line in lines):
            used = "all of their walltime" if use == "100" else f"{use} to 100 % of it"
            row(f"{order} order, jobs use {used}: median error", f"{int(error_s) / 60:.0f} min")
            note(f"too early {float(early):.1%}; {waited} jobs waited, the median {int(wait_s) / 60:.0f} min; forecast of {known}")

    def curves(self):
        """Doubled step by step; the pictures are in build/bench."""
        print(f"Cost curves: the exponent of steps against size; above {MOST} is a fault")
        build = os.environ["CEDE_BUILD"]
        program = os.path.join(build, "counted/test/cost/sched_curves")
        lines = subprocess.run([program, "6" if self.full else "3"], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        curves = {}
        for axis, size, what, steps, _ in (line.split() for line in lines):
            curves.setdefault(axis, {}).setdefault(what, []).append((int(size), int(steps)))
        os.makedirs(os.path.join(build, "bench"), exist_ok=True)
        for axis, by_what in curves.items():
            for what, points in by_what.items():
                x = exponent(points)
                row(f"{axis} {points[0][0]:,} to {points[-1][0]:,}: {what}", f"{x:.2f}{' FAULT' * (x > MOST)}", str(MOST))
            draw(os.path.join(build, "bench", f"{axis}.svg"), axis, by_what)
        note(f"{build}/bench/*.svg")
