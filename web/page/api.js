// What the page knows of HTTP: the token, requests, and the stream of changes.
//
// The token is in sessionStorage, so it ends with the tab, and goes into a header that no other site can make a browser send.

const KEY = 'cede-token';

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `status ${status}`);
    this.status = status;
    this.code = body.pbs_code;
  }
}

export const token = {
  get: () => sessionStorage.getItem(KEY) || '',
  set: (text) => sessionStorage.setItem(KEY, text.trim()),
  clear: () => sessionStorage.removeItem(KEY),
};

async function request(path, options = {}) {
  const answer = await fetch(path, {
    ...options,
    credentials: 'omit',
    headers: { Authorization: `Bearer ${token.get()}`, ...(options.body ? { 'Content-Type': 'application/json' } : {}) },
  });
  if (!answer.ok) {
    let body = {};
    try { body = await answer.json(); } catch { /* a proxy's own page */ }
    throw new Problem(answer.status, body);
  }
  return answer;
}

export async function get(path) {
  return (await request(path)).json();
}

export async function text(path) {
  return (await request(path)).text();
}

export async function send(method, path, body) {
  const answer = await request(path, { method, body: body === undefined ? undefined : JSON.stringify(body) });
  return answer.status === 204 ? null : answer.json();
}

// All pages of a list.
export async function all(kind, query) {
  const found = [];
  for (let offset = 0; offset !== undefined;) {
    const page = await get(`/api/v1/${kind}?limit=10000&offset=${offset}${query ? `&${query}` : ''}`);
    found.push(...page[kind]);
    offset = page.next;
  }
  return found;
}

// Server-sent events by fetch, since EventSource sends no header. `on` gets (event, data); the promise ends with the stream.
export async function events(on, signal) {
  const answer = await request('/api/v1/events', { signal });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      let name = 'message', data = '';
      for (const line of block.split('\n')) {
        if (line.startsWith('event: ')) name = line.slice(7);
        else if (line.startsWith('data: ')) data += line.slice(6);
      }
      if (data) on(name, JSON.parse(data));
    }
  }
}
