// The map of nodes: a cell each, coloured by load; a letter says what colour alone would not. Arrow keys move from cell to cell.
import { store } from './store.js';
import { bytes, h, jobLink, number } from './util.js';

const LETTERS = { down: '×', offline: '–', maintenance: 'M', unknown: '?', stale: '?', resv: 'V' };

export function load(n) {
  const a = n.attributes, total = Number(a.resources_available?.ncpus || 0), used = Number(a.resources_assigned?.ncpus || 0);
  return { total, used, share: total ? used / total : 0 };
}

function kind(n) {
  const state = String(n.attributes.state || '');
  return Object.keys(LETTERS).find((w) => state.includes(w)) || (load(n).share >= 1 ? 'full' : load(n).used ? 'part' : 'free');
}

// "1.svr/0, 1.svr/1, 2.svr/0" or an array of these
export function jobsOf(n) {
  const jobs = n.attributes.jobs ?? [];
  return [...new Set((Array.isArray(jobs) ? jobs : String(jobs).split(/,\s*/)).map((t) => String(t).replace(/\/\d+$/, '')).filter(Boolean))];
}

export function view(main) {
  const sum = h('p', { class: 'sum', role: 'status' });
  const map = h('div', { class: 'map', role: 'grid', 'aria-label': 'Nodes' });
  const detail = h('section', { class: 'detail', 'aria-live': 'polite', 'aria-label': 'Node' }, h('p', {}, 'Choose a node.'));
  const cells = new Map();
  let at = null;

  function show(id) {
    const n = store.nodes.get(id);
    at = id;
    if (!n) return;
    const a = n.attributes, l = load(n);
    detail.replaceChildren(h('h3', {}, id), h('dl', {},
      h('dt', {}, 'State'), h('dd', {}, String(a.state)), h('dt', {}, 'Cpus'), h('dd', {}, `${l.used} of ${l.total} used`),
      h('dt', {}, 'Memory'), h('dd', {}, `${number(Math.round(bytes(a.resources_assigned?.mem) / 2 ** 20))} of ${number(Math.round(bytes(a.resources_available?.mem) / 2 ** 20))} MB assigned`),
      a.comment ? [h('dt', {}, 'Comment'), h('dd', {}, String(a.comment))] : null,
      h('dt', {}, 'Jobs'), h('dd', {}, jobsOf(n).length ? jobsOf(n).flatMap((j, i) => (i ? [' ', jobLink(j)] : [jobLink(j)])) : 'none')));
  }

  function cell(id) {
    const e = h('button', { type: 'button', role: 'gridcell', class: 'cell', tabindex: cells.size ? '-1' : '0', 'data-id': id, onclick: () => show(id), onfocus: () => show(id) });
    cells.set(id, e);
    return e;
  }

  function draw() {
    const count = {};
    let used = 0, total = 0;
    if (cells.size !== store.nodes.size || [...store.nodes.keys()].some((id) => !cells.has(id))) {
      cells.clear();
      map.replaceChildren(h('div', { role: 'row', class: 'map-row' }, [...store.nodes.keys()].map(cell)));
    }
    for (const [id, n] of store.nodes) {
      const e = cells.get(id), l = load(n), k = kind(n);
      count[k] = (count[k] || 0) + 1;
      used += l.used;
      total += l.total;
      e.dataset.kind = k;
      e.style.setProperty('--load', `${Math.round(l.share * 100)}%`);
      e.textContent = LETTERS[k] || '';
      e.setAttribute('aria-label', `${id}: ${n.attributes.state}, ${l.used} of ${l.total} cpus used`);
      e.title = e.getAttribute('aria-label');
    }
    sum.textContent = `${number(store.nodes.size)} nodes · ${number(used)} of ${number(total)} cpus used` + Object.entries(count).map(([k, n]) => ` · ${number(n)} ${k}`).join('');
    if (at) show(at);
  }

  map.addEventListener('keydown', (e) => {
    const all = [...cells.values()], i = all.indexOf(document.activeElement);
    const across = Math.max(1, Math.floor(map.clientWidth / (all[0]?.offsetWidth + 3 || 1)));
    const to = { ArrowRight: i + 1, ArrowLeft: i - 1, ArrowDown: i + across, ArrowUp: i - across, Home: 0, End: all.length - 1 }[e.key];
    if (to === undefined || !all[to]) return;
    e.preventDefault();
    all[i]?.setAttribute('tabindex', '-1');
    all[to].setAttribute('tabindex', '0');
    all[to].focus();
  });
  main.append(h('h2', {}, 'Nodes'), sum, h('p', { class: 'legend' }, ['free', 'part', 'full', 'down', 'offline'].map((k) => h('span', { class: 'key', 'data-kind': k }, `${LETTERS[k] || ''} ${k}`))), map, detail);
  draw();
  return draw;
}
