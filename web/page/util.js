// Small things that every view uses. Text becomes text nodes, never markup: names of jobs may hold anything.

export function h(tag, props = {}, ...children) {
  const svg = ['svg', 'rect', 'line', 'text', 'g', 'title'].includes(tag);
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [k, v] of Object.entries(props)) {
    if (v === null || v === undefined || v === false) continue;
    if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (k === 'style') Object.assign(e.style, v);
    else e.setAttribute(k, v === true ? '' : v);
  }
  e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

export const STATES = { Q: 'waiting', R: 'running', H: 'held', W: 'waiting for its time', S: 'suspended', E: 'ending', T: 'moving', B: 'array begun',
  U: 'suspended by its host', F: 'finished', M: 'moved', X: 'ended subjob' };
export const METHODS = { S: 'suspended', C: 'checkpointed', Q: 'requeued', R: 'requeued', D: 'deleted', P: 'made smaller' };

export const owner = (job) => String(job.attributes.Job_Owner || '').split('@')[0];
export const list = (job) => job.attributes.Resource_List || {};
export const number = (n) => Number(n).toLocaleString('en');

export function seconds(text) {
  return String(text ?? '').split(':').reduce((s, part) => s * 60 + Number(part), 0) || 0;
}

export function bytes(text) {
  const m = /^(\d+)([kmgtp]?)/.exec(String(text ?? '0'));
  return m ? Number(m[1]) * 1024 ** ' kmgtp'.indexOf(m[2] || ' ') : 0;
}

export function span(s) {
  s = Math.max(0, Math.round(s));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  const [big, small, n] = s < 86400 ? ['h', 'min', 3600] : ['d', 'h', 86400], rest = Math.floor(s % n / (n === 3600 ? 60 : 3600));
  return `${Math.floor(s / n)} ${big}${rest ? ` ${rest} ${small}` : ''}`;
}

export const clock = (s) => new Date(s * 1000).toLocaleString([], { dateStyle: 'short', timeStyle: 'medium' });
export const now = () => Date.now() / 1000;

// "(n1:ncpus=2)+(n2:ncpus=1:mem=1gb+n3:ncpus=1)" as [["n1", 2], ...]
export function vnodes(text) {
  const found = new Map();
  for (const m of String(text || '').matchAll(/([^()+:]+)((?::[^()+:]+)*)/g)) {
    const cpus = /:ncpus=(\d+)/.exec(m[2]);
    found.set(m[1], (found.get(m[1]) || 0) + Number(cpus ? cpus[1] : 0));
  }
  return [...found];
}

export const jobLink = (id) => h('a', { href: `#job/${encodeURIComponent(id)}` }, id);

export function table(caption, heads, rows) {
  return h('table', {}, h('caption', {}, caption), h('thead', {}, h('tr', {}, heads.map((t) => h('th', { scope: 'col' }, t)))),
    h('tbody', {}, rows.map((r) => h('tr', {}, r.map((c, i) => (i ? h('td', {}, c ?? '') : h('th', { scope: 'row' }, c ?? '')))))));
}

// A list of any length in a box that scrolls: only the rows that are seen exist. `row(i)` makes one of `height` pixels.
export class Rows {
  constructor(box, height, row) {
    Object.assign(this, { box, height, row, count: 0 });
    this.inside = h('div', { class: 'rows', role: 'presentation' });
    box.append(this.inside);
    box.addEventListener('scroll', () => this.later(), { passive: true });
    new ResizeObserver(() => this.later()).observe(box);
  }

  later() {
    this.due ||= requestAnimationFrame(() => { this.due = 0; this.draw(); });
  }

  set(count) {
    this.count = count;
    this.inside.style.height = `${count * this.height}px`;
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 8);
    const last = Math.min(this.count, Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.height) + 8);
    const made = [];
    for (let i = first; i < last; i++) {
      const e = this.row(i);
      e.style.top = `${i * this.height}px`;
      made.push(e);
    }
    this.inside.replaceChildren(...made);
  }

  show(i) {
    const top = i * this.height, bottom = top + this.height;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (bottom > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = bottom - this.box.clientHeight;
    this.draw();
  }
}
