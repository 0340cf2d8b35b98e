// Nodes down, time across: what runs, what is reserved, and where jobs that wait are expected.
import { store } from './store.js';
import { h, list, now, Rows, seconds, span, vnodes } from './util.js';

const ROW = 30, HOURS = [2, 6, 24, 72, 168];
const how = { hours: 6, text: '' };

// [{node, from, to, kind, label, id}]
function bars() {
  const found = [], t = now();
  for (const j of store.jobs.values()) {
    const a = j.attributes, asked = seconds(list(j).walltime) || 3600 * 24 * 365;
    if ('RSE'.includes(a.job_state) && j.times?.stime) {
      const to = Math.max(t, j.times.stime + asked + Number(a.paused_time || 0));
      for (const [node] of vnodes(a.exec_vnode)) found.push({ node, from: j.times.stime, to, kind: a.job_state === 'S' ? 'stopped' : 'runs', label: `${a.Job_Name}`, id: j.id });
    } else if (a.job_state === 'Q' && j.times?.['estimated.start_time'] && a.estimated?.exec_vnode) {
      const from = j.times['estimated.start_time'];
      for (const [node] of vnodes(a.estimated.exec_vnode)) found.push({ node, from, to: from + asked, kind: 'expected', label: `${a.Job_Name}`, id: j.id });
    }
  }
  for (const r of store.reservations.values()) {
    const from = r.times?.reserve_start, to = r.times?.reserve_end;
    if (from && to) for (const [node] of vnodes(r.attributes.resv_nodes)) found.push({ node, from, to, kind: 'reserved', label: r.attributes.Reserve_Name && r.attributes.Reserve_Name !== 'NULL' ? String(r.attributes.Reserve_Name) : r.id, id: r.id });
  }
  return found;
}

// Each bar gets a line of its own where it lies beside others in time; the number of lines.
function stack(found) {
  const ends = [];
  for (const b of found.sort((a, c) => a.from - c.from)) {
    let line = ends.findIndex((end) => end <= b.from);
    if (line < 0) line = ends.push(0) - 1;
    ends[line] = b.to;
    b.line = line;
  }
  return ends.length;
}

export function view(main) {
  let names = [], byNode = new Map();
  const begin = () => now() - how.hours * 360, length = () => how.hours * 3600 * 1.1;
  const at = (s) => (s - begin()) / length() * 100;
  const box = h('div', { class: 'gantt', tabindex: '0', role: 'list', 'aria-label': 'Nodes and what is on them' });
  const axis = h('div', { class: 'axis', 'aria-hidden': 'true' });
  const sum = h('p', { class: 'sum', role: 'status' });
  const rows = new Rows(box, ROW, (i) => {
    const found = byNode.get(names[i]) || [], tall = (ROW - 4) / Math.max(1, stack(found));
    return h('div', { class: 'lane', role: 'listitem', 'aria-label': `${names[i]}: ${found.map((b) => `${b.kind} ${b.id}`).join(', ') || 'nothing'}` }, h('span', { class: 'lane-name' }, names[i]),
      h('div', { class: 'lane-bars' }, found.map((b) => {
        const left = Math.max(0, at(b.from)), right = Math.min(100, at(b.to));
        return h(b.kind === 'reserved' ? 'span' : 'a', { class: `bar ${b.kind}`, href: b.kind === 'reserved' ? null : `#job/${encodeURIComponent(b.id)}`,
          title: `${b.id} ${b.label}: ${b.kind}, ${new Date(b.from * 1000).toLocaleString()} to ${new Date(b.to * 1000).toLocaleString()}`,
          style: { left: `${left}%`, width: `${Math.max(0.3, right - left)}%`, top: `${2 + b.line * tall}px`, height: `${Math.max(2, tall - 1)}px` } }, tall > 10 ? b.label : '');
      }), h('i', { class: 'now', style: { left: `${at(now())}%` } })));
  });

  function draw() {
    const all = bars().filter((b) => b.to > begin() && b.from < begin() + length());
    byNode = new Map();
    for (const b of all) (byNode.get(b.node) || byNode.set(b.node, []).get(b.node)).push(b);
    names = [...store.nodes.keys()].filter((n) => n.includes(how.text));
    axis.replaceChildren(...Array.from({ length: 5 }, (_, i) => h('span', { style: { left: `${i * 20}%` } }, i === 0 ? `${span(how.hours * 360)} ago` : new Date((begin() + length() * i / 5) * 1000).toLocaleString([], { weekday: 'short', hour: '2-digit', minute: '2-digit' }))));
    sum.textContent = `${names.length} nodes · ${all.filter((b) => b.kind === 'runs').length} pieces of running jobs · ${all.filter((b) => b.kind === 'expected').length} expected · ${all.filter((b) => b.kind === 'reserved').length} reserved`;
    rows.set(names.length);
  }

  main.append(h('h2', {}, 'Timeline'), h('div', { class: 'tools' }, h('label', { for: 'hours' }, 'Ahead'),
    h('select', { id: 'hours', onchange: (e) => { how.hours = Number(e.target.value); draw(); } }, HOURS.map((n) => h('option', { value: n, selected: n === how.hours }, span(n * 3600)))),
    h('label', { for: 'node-name' }, 'Node'), h('input', { type: 'search', id: 'node-name', value: how.text, oninput: (e) => { how.text = e.target.value; draw(); } })),
  h('p', { class: 'legend' }, ['runs', 'stopped', 'expected', 'reserved'].map((k) => h('span', { class: `key bar-key ${k}` }, k))), sum, axis, box);
  draw();
  return draw;
}
