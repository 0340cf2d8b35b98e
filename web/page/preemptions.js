// Who gave way to whom, how, and what that has cost.
import { get } from './api.js';
import { store } from './store.js';
import { clock, h, jobLink, METHODS, number, owner, span, STATES, table } from './util.js';

const LOST = 'core-seconds lost';

function giving() {
  return [...store.jobs.values()].filter((j) => j.attributes.gives_way === 'True' || j.attributes.preempt_deadline);
}

export function view(main) {
  const under = h('div'), past = h('div'), known = h('div'), policy = h('div'), sum = h('p', { class: 'sum', role: 'status' });
  function draw() {
    const lost = store.preemptions.reduce((s, p) => s + p.lost_core_seconds, 0);
    sum.textContent = `${number(store.preemptions.length)} preemptions seen by this service · ${number(Math.round(lost))} ${LOST}`;
    const now = giving();
    under.replaceChildren(now.length ? table('Giving way now', ['Job', 'User', 'For', 'When'], now.map((j) => [jobLink(j.id), owner(j), j.attributes.preempted_by ? jobLink(j.attributes.preempted_by) : '',
      j.attributes.preempt_deadline ? clock(j.attributes.preempt_deadline) : 'now'])) : h('p', {}, 'No job gives way at this moment.'));
    const were = [...store.jobs.values()].filter((j) => j.attributes.preempt_count).sort((a, b) => b.attributes.preempt_time - a.attributes.preempt_time);
    known.replaceChildren(were.length ? table('Jobs that were preempted and are still there', ['Job', 'User', 'State', 'Times', 'Last', 'How', 'For'], were.slice(0, 500).map((j) => [jobLink(j.id), owner(j),
      STATES[j.attributes.job_state], number(j.attributes.preempt_count), clock(j.attributes.preempt_time), METHODS[j.attributes.preempt_method] || '', j.attributes.preempted_by ? jobLink(j.attributes.preempted_by) : ''])) : '');
    past.replaceChildren(store.preemptions.length ? table('What has happened', ['When', 'Job', 'User', 'Queue', 'How', 'For', LOST], [...store.preemptions].reverse().map((p) => [clock(p.at), jobLink(p.job),
      p.user, p.queue, METHODS[p.method] || p.method, p.for ? jobLink(p.for) : '', number(Math.round(p.lost_core_seconds))])) : '');
  }
  main.append(h('h2', {}, 'Preemptions'), sum, under, past, known, policy);
  get('/api/v1/policy').then((p) => policy.replaceChildren(table('Policy in force', ['Queue', 'Gives way to', 'May preempt', 'Methods'],
    Object.entries(p.queue).filter(([, q]) => q.in_force).map(([name, { in_force: f }]) => [name, f.preempted_by.join(', ') || 'none', f.preempts.join(', ') || 'none', methods(f)])))).catch(() => {});
  draw();
  return draw;
}

// "over 80% of its time left: suspended; else requeued"
function methods(f) {
  const groups = f.by_time_left || [];
  return groups.map((g) => `${g.above_percent_left ? `over ${g.above_percent_left}% of its time left: ` : groups.length > 1 ? 'else ' : ''}${g.methods.map((m) => METHODS[m.letter] || m.letter).join(', ')}`).join('; ') || 'none';
}

// The plan of a job that waits, as explain tells it.
export function plan(p) {
  const list = (v) => (Array.isArray(v) ? v : v === undefined ? [] : [v]);
  const back = (v) => (typeof v === 'number' ? `in ${span(v - Date.now() / 1000)}` : String(v ?? ''));
  return h('div', { class: 'plan' }, h('p', {}, h('strong', {}, { runs: 'It runs.', under_way: 'It is being started, or others give way to it.', would_run: 'It would be started now.',
    would_preempt: 'It would be started in the room of others.', waits: 'It would not be started now.' }[p.verdict] || p.verdict), p.exec_vnode ? ` On ${p.exec_vnode}.` : ''),
  h('ul', {}, [...list(p.not_yet), ...list(p.in_the_way), ...list(p.no_preemption)].map((t) => h('li', {}, String(t)))),
  p.victims?.length ? table('Would give way, in this order', ['Job', 'Queue', 'How', LOST, 'Back'], p.victims.map((v) => [jobLink(v.job), v.queue, METHODS[v.method] || v.method, number(v.lost_core_seconds ?? 0), back(v.back)])) : null,
  p.spared?.length ? table('Would not give way', ['Job', 'Queue', 'Why'], p.spared.map((v) => [jobLink(v.job), v.queue, v.reason ?? v.why])) : null);
}
