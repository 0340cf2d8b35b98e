// The complex as the page knows it: lists that were read once, and the changes since.
//
// The stream is opened first and the lists are read after its hello, so that nothing falls between. Views subscribe; they are called
// once for many changes, at most four times a second.
import { all, events, get, Problem } from './api.js';

const JOB_FIELDS = ['Job_Name', 'Job_Owner', 'job_state', 'substate', 'queue', 'project', 'Priority', 'comment', 'qtime', 'etime', 'stime',
  'Resource_List', 'exec_vnode', 'estimated', 'Exit_status', 'array_state_count', 'paused_time', 'preempt_count', 'preempt_method',
  'preempt_time', 'preempted_by', 'preempt_deadline', 'gives_way', 'room_held'].join(',');
const NODE_FIELDS = 'state,resources_available,resources_assigned,jobs,resv,comment,queue,partition';
const PAUSE_MS = 250;
const NODES_PAUSE_MS = 2000;

export const store = {
  jobs: new Map(), nodes: new Map(), queues: new Map(), reservations: new Map(),
  preemptions: [], server: null, linked: false, ready: false, version: 0,
};

const listeners = new Set();
let due = 0, nodesDue = 0;

export function subscribe(fn) {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

export function changed() {
  store.version++;
  due ||= setTimeout(() => { due = 0; listeners.forEach((fn) => fn()); }, PAUSE_MS);
}

function fill(map, list) {
  map.clear();
  for (const o of list) map.set(o.id, o);
}

async function readAll() {
  const [jobs, nodes, queues, reservations, preemptions, server] = await Promise.all([
    all('jobs', `fields=${JOB_FIELDS}`), all('nodes', `fields=${NODE_FIELDS}`), all('queues'), all('reservations'),
    get('/api/v1/preemptions'), get('/api/v1/server')]);
  fill(store.jobs, jobs);
  fill(store.nodes, nodes);
  fill(store.queues, queues);
  fill(store.reservations, reservations);
  store.preemptions = preemptions.preemptions;
  store.server = server;
  store.ready = true;
}

// What is assigned on nodes follows from jobs, and is no change of its own in the stream: read again after a while.
function nodesSoon() {
  nodesDue ||= setTimeout(async () => {
    nodesDue = 0;
    try {
      const [nodes, preemptions] = await Promise.all([all('nodes', `fields=${NODE_FIELDS}`), get('/api/v1/preemptions')]);
      fill(store.nodes, nodes);
      store.preemptions = preemptions.preemptions;
      changed();
    } catch { /* the stream says that the server is away */ }
  }, NODES_PAUSE_MS);
}

const maps = { job: store.jobs, node: store.nodes, queue: store.queues, reservation: store.reservations };

function apply(change) {
  const map = maps[change.kind];
  if (!map) return;
  if (change.gone || (change.kind === 'job' && 'FMX'.includes(change.attributes.job_state))) map.delete(change.id);
  else map.set(change.id, change);
  if (change.kind === 'job') nodesSoon();
}

// Follow until `stop`; `onProblem` hears why it is not possible, and says whether to try again.
export async function follow(onProblem) {
  for (;;) {
    const abort = new AbortController();
    let waiting = null; // changes that come in while lists are read
    const begin = async () => {
      waiting = [];
      await readAll();
      const late = waiting;
      waiting = null;
      late.forEach(apply);
      store.linked = true;
      changed();
    };
    let failure = null;
    try {
      await events((name, data) => {
        if (name === 'hello' || name === 'reset') begin().catch((e) => { failure ||= e; abort.abort(); });
        else if (name === 'away') { store.linked = false; changed(); } else if (waiting) waiting.push(data);
        else { apply(data); changed(); }
      }, abort.signal);
    } catch (e) {
      failure ||= e;
    }
    store.linked = false;
    changed();
    if (failure instanceof Problem && failure.status === 401) await onProblem(failure);
    else await new Promise((r) => setTimeout(r, 2000));
  }
}
