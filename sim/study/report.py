"""Tables: for the terminal, and CSV; from the JSON of a study alone."""
import csv
import io

from .figures import interval

# name, the number's path in a simulation, unit
ROWS = (
    ("jobs ended", ("all", "ended"), ""),
    ("wait, mean", ("all", "wait_mean_s"), "s"),
    ("wait, median", ("all", "wait_median_s"), "s"),
    ("wait, 95 %", ("all", "wait_p95_s"), "s"),
    ("bounded slowdown, mean", ("all", "slowdown_mean"), "x"),
    ("bounded slowdown, median", ("all", "slowdown_median"), "x"),
    ("estimated starts", ("all", "estimated"), ""),
    ("estimate: error, median", ("all", "estimate_error_median_s"), "s"),
    ("estimate: began earlier", ("all", "estimate_earlier"), "%"),
    ("estimate: began later", ("all", "estimate_later"), "%"),
    ("utilisation", ("utilisation",), "%"),
    ("makespan", ("makespan_s",), "s"),
    ("jobs an hour", ("throughput_per_h",), "x"),
    ("fairness (Jain)", ("fairness", "jain"), "x"),
    ("preemptions", ("all", "preempted"), ""),
    ("lost core-hours", ("all", "lost_core_hours"), "x"),
    ("urgent: response, mean", ("by_urgency", "urgent", "response_mean_s"), "s"),
    ("urgent: wait, mean", ("by_urgency", "urgent", "wait_mean_s"), "s"),
    ("urgent: slowdown, mean", ("by_urgency", "urgent", "slowdown_mean"), "x"),
    ("others: slowdown, mean", ("by_urgency", "other", "slowdown_mean"), "x"),
    ("others: wait, mean", ("by_urgency", "other", "wait_mean_s"), "s"),
)
GROUPS = ("by_urgency", "by_queue", "by_class", "by_user")
USERS_SHOWN = 12


def number(tree, path):
    """The number there, or None."""
    for key in path:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def values(variant, path):
    return [v for v in (number(s, path) for s in variant["simulations"]) if v is not None]


def span(seconds):
    """"3 d 04:05", "4:05:06", "12.3 s"."""
    if seconds < 600:
        return f"{seconds:.1f} s"
    if seconds < 10 * 86400:
        return f"{int(seconds // 3600)}:{int(seconds % 3600 // 60):02}:{int(seconds % 60):02}"
    return f"{seconds / 86400:.1f} d"


def shown(value, unit):
    if unit == "s":
        return span(value)
    if unit == "%":
        return f"{value * 100:.1f} %"
    if unit == "":
        return f"{value:.0f}" if value == int(value) else f"{value:.1f}"
    return f"{value:.2f}"


def cell(variant, path, unit):
    found = values(variant, path)
    if not found:
        return "-"
    mean, half = interval(found)
    return shown(mean, unit) + (f" ± {shown(half, unit)}" if len(found) > 1 else "")


def aligned(rows):
    """Rows of texts as lines: the first column to the left, the others to the right."""
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    return ["  ".join([r[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(r[1:], widths[1:])]).rstrip() for r in rows]


def main_rows(study):
    rows = [["", *(v["name"] for v in study["variants"])]]
    for name, path, unit in ROWS:
        cells = [cell(v, path, unit) for v in study["variants"]]
        if any(c != "-" for c in cells):
            rows.append([name, *cells])
    methods = sorted({m for v in study["variants"] for s in v["simulations"] for m in s["all"]["by_method"]})
    at = next((i for i, r in enumerate(rows) if r[0] == "preemptions"), len(rows) - 1) + 1
    for m in reversed(methods):
        rows.insert(at, [f"  {m}", *(shown(interval([s["all"]["by_method"].get(m, 0) for s in v["simulations"]])[0], "")
                                     for v in study["variants"])])
    return rows


def group_rows(study, group):
    """Jobs, wait, slowdown, preemptions of each queue (user, class), a column for each variant."""
    names = sorted({k for v in study["variants"] for s in v["simulations"] for k in s[group]})
    if group == "by_user" and len(names) > USERS_SHOWN:
        names.sort(key=lambda n: -max(number(s, (group, n, "core_hours")) or 0 for v in study["variants"]
                                      for s in v["simulations"]))
        names = names[:USERS_SHOWN]
    rows = [[group.replace("by_", "by "), *(f"{v['name']}" for v in study["variants"])]]
    for name in names:
        row = [f"  {name}"]
        for v in study["variants"]:
            row.append(f"{cell(v, (group, name, 'jobs'), '')} jobs, wait {cell(v, (group, name, 'wait_mean_s'), 's')}, "
                       f"slowdown {cell(v, (group, name, 'slowdown_mean'), 'x')}")
        rows.append(row)
    return rows


def share_rows(study):
    """Share due and reached of the users who have most; the first simulation of each variant."""
    first = study["variants"][0]["simulations"][0]["fairness"]["shares"]
    users = sorted(first, key=lambda u: -first[u]["due"])[:USERS_SHOWN]
    rows = [["share due / reached", *(v["name"] for v in study["variants"])]]
    for u in users:
        cells = [v["simulations"][0]["fairness"]["shares"].get(u) for v in study["variants"]]
        rows.append([f"  {u}", *(f"{c['due'] * 100:.1f} % / {c['reached'] * 100:.1f} %" if c else "-" for c in cells)])
    return rows


def table(study):
    """The report for the terminal."""
    lines = [f"workload   {study['workload']}: {study['jobs']} jobs in {span(study['span_s'])}",
             f"cluster    {study['cluster']}: {study['vnodes']} vnodes, {study['cpus']} cpus"]
    lines += [f"note       {note}" for note in study["notes"]]
    for v in study["variants"]:
        lines += [f"note       {v['name']}: {note}" for note in v["notes"]]
    lines += ["", *aligned(main_rows(study))]
    for group in GROUPS:
        rows = group_rows(study, group)
        if len(rows) > 2:
            lines += ["", *aligned(rows)]
    return "\n".join(lines) + "\n"


def as_csv(study):
    """A line for each number: variant, replica, seed, group, name, figure, value."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(["variant", "replica", "group", "name", "figure", "value"])
    for v in study["variants"]:
        for i, s in enumerate(v["simulations"], 1):
            for key in ("makespan_s", "utilisation", "throughput_per_h"):
                write([v["name"], i, "", "", key, s[key]])
            write([v["name"], i, "", "", "jain", s["fairness"]["jain"]])
            for group in ("all", *GROUPS):
                for name, figures in ({"": s["all"]} if group == "all" else s[group]).items():
                    for key, value in figures.items():
                        if key != "by_method":
                            write([v["name"], i, group.replace("by_", ""), name, key, value])
                    for method, n in figures["by_method"].items():
                        write([v["name"], i, group.replace("by_", ""), name, method, n])
    return out.getvalue()
