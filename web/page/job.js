// A job's own page: how far it is, where, why it waits, what happened to it, its output while it runs, and what may be done to it.
import { get, send, text } from './api.js';
import { store } from './store.js';
import { plan } from './preemptions.js';
import { bytes, clock, h, jobLink, METHODS, number, seconds, span, STATES, table, vnodes } from './util.js';
import { why } from './jobs.js';

function meter(label, used, asked, show) {
  const share = asked ? Math.min(1, used / asked) : 0;
  return h('div', { class: 'meter' }, h('span', {}, `${label}: ${show(used)} of ${asked ? show(asked) : 'no limit'}`),
    h('meter', { min: 0, max: 1, value: share, 'aria-label': label }));
}

function act(id, say, redraw) {
  const doing = (label, method, path, question) => h('button', { type: 'button', onclick: async (e) => {
    if (question && !confirm(question)) return;
    e.target.disabled = true;
    try {
      await send(method, `/api/v1/jobs/${encodeURIComponent(id)}${path}`, method === 'POST' ? {} : undefined);
      say(`${label}: done.`);
      redraw();
    } catch (p) {
      say(`${label}: ${p.message}`);
    }
    e.target.disabled = false;
  } }, label);
  return h('p', { class: 'tools' }, doing('Hold', 'POST', '/hold'), doing('Release', 'POST', '/release'), doing('Delete', 'DELETE', '', `Delete job ${id}?`));
}

export function view(main, id) {
  const title = h('h2', {}, `Job ${id}`), top = h('div'), said = h('p', { role: 'status' }), explained = h('div'), output = h('div'), logged = h('div'), rest = h('div');
  let busy = false, seen = null, whole = id; // whole: with the server's name, as lists have it

  async function draw() {
    const known = store.jobs.get(whole);
    if (busy || (seen && known === seen)) return;
    busy = true;
    try {
      const j = await get(`/api/v1/jobs/${encodeURIComponent(id)}`), a = j.attributes, asked = a.Resource_List || {}, used = a.resources_used || {};
      whole = j.id;
      seen = store.jobs.get(whole);
      title.replaceChildren(`Job ${id} `, h('span', { class: 'state' }, a.job_state), ` ${a.Job_Name}`);
      top.replaceChildren(h('p', { class: 'why' }, `${STATES[a.job_state]}. ${why(j)}`),
        h('div', { class: 'cards' },
          h('dl', {}, ['Job_Owner', 'queue', 'project', 'Priority'].flatMap((k) => (a[k] === undefined ? [] : [h('dt', {}, k), h('dd', {}, String(a[k]))])),
            h('dt', {}, 'asked'), h('dd', {}, String(asked.select ?? '')), h('dt', {}, 'on'), h('dd', {}, vnodes(a.exec_vnode).map(([n, c]) => `${n}: ${c}`).join(', ') || 'nothing yet')),
          h('dl', {}, Object.entries(j.times || {}).flatMap(([k, t]) => [h('dt', {}, k), h('dd', {}, clock(t))]))),
        used.walltime !== undefined ? h('div', { class: 'meters' }, meter('walltime', seconds(used.walltime), seconds(asked.walltime), span),
          meter('cpus', Number(used.cpupercent || 0) / 100, Number(asked.ncpus || 0), (n) => n.toFixed(1)),
          meter('memory', bytes(used.mem) / 2 ** 20, bytes(asked.mem) / 2 ** 20, (n) => `${number(Math.round(n))} MB`)) : '',
        a.preempt_count ? h('p', {}, `Preempted ${a.preempt_count} times; last ${METHODS[a.preempt_method] || ''} ${clock(a.preempt_time)}`, a.preempted_by ? [' for ', jobLink(a.preempted_by)] : '') : '');
      rest.replaceChildren(h('details', {}, h('summary', {}, 'All attributes'), h('table', {}, h('tbody', {}, Object.entries(a).flatMap(([k, v]) => (v && typeof v === 'object'
        ? Object.entries(v).map(([r, x]) => [`${k}.${r}`, x]) : [[k, v]])).map(([k, v]) => h('tr', {}, h('th', { scope: 'row' }, k), h('td', {}, String(v))))))));
    } catch (p) {
      seen = known;
      top.replaceChildren(h('p', { class: 'why' }, p.status === 404 ? 'This job is not there any more.' : p.message));
    }
    busy = false;
  }

  const explain = h('button', { type: 'button', onclick: async () => {
    try { explained.replaceChildren(plan(await get(`/api/v1/jobs/${encodeURIComponent(id)}/explain`))); } catch (p) { explained.textContent = p.message; }
  } }, 'What would be done for it now?');
  const peek = h('button', { type: 'button', onclick: async () => {
    try { output.replaceChildren(h('pre', { tabindex: '0', 'aria-label': 'Output' }, await text(`/api/v1/jobs/${encodeURIComponent(id)}/output`) || '(nothing yet)')); } catch (p) { output.textContent = p.message; }
  } }, 'Output so far');
  const log = h('button', { type: 'button', onclick: async () => {
    try {
      const lines = (await get(`/api/v1/jobs/${encodeURIComponent(id)}/log`)).lines;
      logged.replaceChildren(lines.length ? table('Log', ['time', 'from', 'what'], lines.map((l) => [l.time, l.source, l.text])) : h('p', {}, 'The logs have nothing about it.'));
    } catch (p) { logged.textContent = p.message; }
  } }, 'Log');
  main.append(title, top, act(id, (t) => { said.textContent = t; }, () => { seen = null; draw(); }), said, h('p', { class: 'tools' }, explain, peek, log), explained, output, logged, rest);
  draw();
  return draw;
}
