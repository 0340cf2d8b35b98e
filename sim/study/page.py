"""One HTML page of a study, that needs no other file: tables, and pictures drawn from the JSON."""
import html

from . import picture, report

STYLE = """body{font:15px/1.45 system-ui,sans-serif;max-width:900px;margin:2em auto;padding:0 1em;color:#1a202c}
h1{font-size:1.5em}h2{font-size:1.2em;margin-top:2em;border-bottom:1px solid #cbd5e0}table{border-collapse:collapse;margin:1em 0}
td,th{padding:.2em .7em;text-align:right;border-bottom:1px solid #edf2f7;font-variant-numeric:tabular-nums}
td:first-child,th:first-child{text-align:left;white-space:pre}svg{max-width:100%;height:auto;display:block;margin:.8em 0}
svg text{font:11px system-ui,sans-serif;fill:#4a5568}svg .t{font-size:13px;fill:#1a202c;font-weight:600}
svg .g{stroke:#e2e8f0;stroke-width:1}.n{color:#4a5568}"""


def _table(rows):
    head, *body = rows
    out = ["<table><tr>", *(f"<th>{html.escape(c)}</th>" for c in head), "</tr>"]
    for row in body:
        out += ["<tr>", *(f"<td>{html.escape(c)}</td>" for c in row), "</tr>"]
    return "".join(out) + "</table>"


def _length(variants):
    return max((c[-1][0] for v in variants for c in (v["simulations"][0]["curves"]["used_cpus"],) if c), default=1) * 1.003


def _gantt_title(variant, chart, length):
    """What part of the whole is drawn."""
    rows, until = len(chart["vnodes"]), max(end for _, _, end, _, _ in chart["bars"])
    return ("Vnodes" + (f", the first {rows} of {variant['vnodes']}" if variant["vnodes"] > rows else "")
            + (f", until {picture.span_label(until)} of {picture.span_label(length)}" if until < 0.95 * length else ""))


def _pictures(study):
    """Utilisation and queue of all variants together; then waits and vnodes of each."""
    variants = study["variants"]
    length = _length(variants)

    def series(key, scale):
        return [(v["name"], [[t, y * 100 / v["cpus"] if scale else y] for t, y in v["simulations"][0]["curves"][key]])
                for v in variants]
    out = ["<h2>Over time</h2>", picture.curves("Utilisation", series("used_cpus", True), length, " %"),
           picture.curves("Cpus that waiting jobs ask for", series("queued_cpus", False), length)]
    if any(y for _, points in series("suspended_cpus", False) for _, y in points):
        out.append(picture.curves("Cpus of suspended jobs", series("suspended_cpus", False), length))
    for v in variants:
        first = v["simulations"][0]
        out += [f"<h2>{html.escape(v['name'])}</h2>",
                picture.dots("Wait by width (cpus) and run time: each dot is a job", first["dots"])]
        if first["gantt"]["bars"]:
            out.append(picture.gantt(_gantt_title(v, first["gantt"], length), first["gantt"], length))
    return out


def of_study(study):
    """The page, as text."""
    notes = [*study["notes"], *(f"{v['name']}: {n}" for v in study["variants"] for n in v["notes"])]
    facts = (f"{study['workload']}: {study['jobs']} jobs in {report.span(study['span_s'])}, on {study['cluster']}: "
             f"{study['vnodes']} vnodes, {study['cpus']} cpus. {study['replicas']} "
             f"{'simulation' if study['replicas'] == 1 else 'simulations'} of each variant, seed {study['seed']}; "
             f"{study['simulated_hours_a_second']:.1f} simulated hours a second.")
    parts = ["<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>pbs_sim</title><style>", STYLE,
             "</style></head><body><h1>What would have happened</h1><p>", html.escape(facts), "</p>",
             *(f"<p class=\"n\">{html.escape(n)}</p>" for n in notes), _table(report.main_rows(study))]
    for group in report.GROUPS:
        rows = report.group_rows(study, group)
        if len(rows) > 2:
            parts.append(_table(rows))
    parts += [_table(report.share_rows(study)), *_pictures(study), "</body></html>\n"]
    return "".join(parts)
