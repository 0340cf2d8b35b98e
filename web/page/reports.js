// Sums by user, queue or project of what is there now, and by week of what has finished, where the server keeps history.
import { all } from './api.js';
import { store } from './store.js';
import { h, list, now, number, owner, seconds, span, table } from './util.js';

const how = { by: 'user' };
const KEYS = { user: owner, queue: (j) => String(j.attributes.queue ?? ''), project: (j) => String(j.attributes.project ?? '') };

function sums() {
  const found = new Map();
  for (const j of store.jobs.values()) {
    const key = KEYS[how.by](j), s = found.get(key) || found.set(key, { R: 0, Q: 0, other: 0, cpus: 0, waits: 0, waited: 0 }).get(key), state = j.attributes.job_state;
    if (state === 'R') { s.R++; s.cpus += Number(list(j).ncpus || 0); } else if (state === 'Q') {
      s.Q++;
      s.waits++;
      s.waited += now() - (j.times?.etime || j.times?.qtime || now());
    } else s.other++;
  }
  return [...found].sort(([, a], [, b]) => b.cpus - a.cpus || b.Q - a.Q);
}

// Monday of the week, as a date.
function week(s) {
  const d = new Date(s * 1000);
  d.setDate(d.getDate() - (d.getDay() + 6) % 7);
  return d.toLocaleDateString('sv');
}

async function finished() {
  const jobs = await all('jobs', 'history=true&state=F&fields=Job_Owner,queue,project,resources_used,Resource_List,stime,mtime,Exit_status'), found = new Map();
  for (const j of jobs) {
    const key = `${week(j.times?.mtime || 0)}\u0000${KEYS[how.by](j)}`, s = found.get(key) || found.set(key, { n: 0, failed: 0, cores: 0 }).get(key);
    s.n++;
    s.failed += j.attributes.Exit_status ? 1 : 0;
    s.cores += seconds(j.attributes.resources_used?.walltime) * Number(list(j).ncpus || 0);
  }
  return [...found].sort(([a], [b]) => (a < b ? 1 : -1)).map(([k, s]) => [...k.split('\u0000'), number(s.n), number(s.failed), number(Math.round(s.cores / 36) / 100)]);
}

export function view(main) {
  const present = h('div'), past = h('div');
  function draw() {
    present.replaceChildren(table(`Now, by ${how.by}`, [how.by, 'running', 'cpus', 'waiting', 'mean wait so far', 'others'],
      sums().map(([k, s]) => [k, number(s.R), number(s.cpus), number(s.Q), s.waits ? span(s.waited / s.waits) : '', number(s.other)])));
  }
  const read = async () => {
    past.textContent = 'reading …';
    try {
      const rows = await finished();
      past.replaceChildren(rows.length ? table(`Finished, by week and ${how.by}`, ['week of', how.by, 'jobs', 'exit status not 0', 'core-hours'], rows) : h('p', {}, 'The server has no finished jobs.'));
    } catch (p) { past.textContent = p.message; }
  };
  main.append(h('h2', {}, 'Reports'), h('div', { class: 'tools' }, h('label', { for: 'by' }, 'By'),
    h('select', { id: 'by', onchange: (e) => { how.by = e.target.value; past.replaceChildren(); draw(); } }, Object.keys(KEYS).map((k) => h('option', { value: k, selected: k === how.by }, k))),
    h('button', { type: 'button', onclick: read }, 'Finished jobs')), present, past);
  draw();
  return draw;
}
