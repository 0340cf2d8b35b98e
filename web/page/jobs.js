// The list of jobs: a grid of which only the rows in sight exist. Arrow keys move, Enter opens.
import { store } from './store.js';
import { h, list, now, number, owner, Rows, seconds, span, STATES, vnodes } from './util.js';

const ROW = 34;
const COLUMNS = [
  { key: 'id', head: 'Job', of: (j) => j.id, order: (j) => parseInt(j.id, 10) },
  { key: 'name', head: 'Name', of: (j) => String(j.attributes.Job_Name ?? '') },
  { key: 'user', head: 'User', of: owner },
  { key: 'queue', head: 'Queue', of: (j) => String(j.attributes.queue ?? '') },
  { key: 'state', head: 'State', of: (j) => j.attributes.job_state },
  { key: 'cpus', head: 'Cpus', of: (j) => number(list(j).ncpus || 0), order: (j) => Number(list(j).ncpus || 0) },
  { key: 'time', head: 'Time', of: since, order: (j) => -begun(j) },
  { key: 'why', head: 'Where, or why it waits', of: why },
];
const how = { text: '', state: '', sort: 'id', down: false };

function begun(j) {
  const t = j.times || {};
  return 'RSE'.includes(j.attributes.job_state) ? t.stime || t.qtime || 0 : t.etime || t.qtime || 0;
}

function since(j) {
  const from = begun(j), asked = seconds(list(j).walltime);
  if (!from) return '';
  return span(now() - from) + (j.attributes.job_state === 'R' && asked ? ` of ${span(asked)}` : '');
}

export function why(j) {
  const a = j.attributes;
  if (a.preempt_deadline) return `will be preempted ${new Date(a.preempt_deadline * 1000).toLocaleTimeString()} for ${a.preempted_by ?? 'another job'}`;
  if (a.job_state === 'R') return vnodes(a.exec_vnode).map(([n]) => n).join(' ');
  if (a.job_state === 'Q' && j.times?.['estimated.start_time']) {
    return `${a.comment ?? ''} · expected ${new Date(j.times['estimated.start_time'] * 1000).toLocaleString()}`;
  }
  return String(a.comment ?? (a.job_state === 'H' ? 'held' : ''));
}

function chosen() {
  const words = how.text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [];
  for (const j of store.jobs.values()) {
    if (how.state && !how.state.includes(j.attributes.job_state)) continue;
    if (words.length) {
      const text = `${j.id} ${j.attributes.Job_Name} ${owner(j)} ${j.attributes.queue} ${j.attributes.project ?? ''} ${j.attributes.comment ?? ''} ${j.attributes.exec_vnode ?? ''}`.toLowerCase();
      if (!words.every((w) => text.includes(w))) continue;
    }
    found.push(j);
  }
  const c = COLUMNS.find((x) => x.key === how.sort), value = c.order || c.of, sign = how.down ? -1 : 1;
  const keyed = found.map((j) => [value(j), j]);
  keyed.sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0));
  return keyed.map(([, j]) => j);
}

export function view(main) {
  let shown = [], at = null; // at: identifier of the row that has the focus
  const sum = h('p', { class: 'sum', role: 'status' });
  const box = h('div', { class: 'grid-body', role: 'rowgroup' });
  const heads = h('div', { class: 'grid-row heads', role: 'row' });
  const grid = h('div', { class: 'grid', role: 'grid', 'aria-label': 'Jobs', tabindex: '0' }, h('div', { role: 'rowgroup' }, heads), box);
  const rows = new Rows(box, ROW, (i) => {
    const j = shown[i];
    return h('div', { class: 'grid-row', role: 'row', id: `row-${i}`, 'aria-rowindex': i + 2, 'aria-selected': j.id === at ? 'true' : 'false', 'data-id': j.id,
      'data-state': j.attributes.job_state, onclick: () => { location.hash = `#job/${encodeURIComponent(j.id)}`; } },
      COLUMNS.map((c) => h('div', { role: 'gridcell', class: `c-${c.key}` },
        c.key === 'state' ? h('span', { class: 'state', title: STATES[j.attributes.job_state] }, j.attributes.job_state) : c.of(j))));
  });

  function drawHeads() {
    heads.replaceChildren(...COLUMNS.map((c) => h('div', { role: 'columnheader', class: `c-${c.key}`,
      'aria-sort': how.sort === c.key ? (how.down ? 'descending' : 'ascending') : 'none' },
      h('button', { type: 'button', onclick: () => { how.down = how.sort === c.key && !how.down; how.sort = c.key; drawHeads(); draw(); } }, c.head))));
  }

  function draw() {
    shown = chosen();
    const count = {};
    for (const j of store.jobs.values()) count[j.attributes.job_state] = (count[j.attributes.job_state] || 0) + 1;
    sum.textContent = `${number(shown.length)} of ${number(store.jobs.size)} jobs` +
      Object.entries(count).map(([s, n]) => ` · ${number(n)} ${STATES[s] || s}`).join('');
    grid.setAttribute('aria-rowcount', shown.length + 1);
    rows.set(shown.length);
  }

  function move(to) {
    to = Math.max(0, Math.min(shown.length - 1, to));
    if (!shown[to]) return;
    at = shown[to].id;
    rows.show(to);
    grid.setAttribute('aria-activedescendant', `row-${to}`);
  }

  grid.addEventListener('keydown', (e) => {
    if (e.target.tagName === 'BUTTON') return;
    const i = shown.findIndex((j) => j.id === at), page = Math.max(1, Math.floor(box.clientHeight / ROW) - 1);
    const to = { ArrowDown: i + 1, ArrowUp: i - 1, PageDown: i + page, PageUp: i - page, Home: 0, End: shown.length - 1 }[e.key];
    if (to !== undefined) { e.preventDefault(); move(to); }
    if (e.key === 'Enter' && i >= 0) location.hash = `#job/${encodeURIComponent(at)}`;
  });
  const search = h('input', { type: 'search', id: 'search', placeholder: 'name, user, queue, node, reason', value: how.text,
    oninput: (e) => { how.text = e.target.value; draw(); } });
  const states = h('select', { id: 'state', onchange: (e) => { how.state = e.target.value; draw(); } },
    [['', 'all'], ['R', 'running'], ['QWT', 'waiting'], ['H', 'held'], ['SU', 'suspended']].map(([v, t]) => h('option', { value: v, selected: v === how.state }, t)));
  main.append(h('h2', {}, 'Jobs'), h('div', { class: 'tools' }, h('label', { for: 'search' }, 'Find'), search, h('label', { for: 'state' }, 'State'), states), sum, grid);
  drawHeads();
  draw();
  return draw;
}
