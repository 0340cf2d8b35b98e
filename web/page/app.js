// The frame: which view is shown, the token, and whether the page is up to date.
import { token } from './api.js';
import { follow, store, subscribe } from './store.js';
import * as job from './job.js';
import * as jobs from './jobs.js';
import * as nodes from './nodes.js';
import * as preemptions from './preemptions.js';
import * as reports from './reports.js';
import * as timeline from './timeline.js';

const VIEWS = { jobs, nodes, timeline, preemptions, reports, job };
const $ = (id) => document.getElementById(id);
let draw = null;

function show() {
  const [name, ...rest] = decodeURIComponent(location.hash.slice(1) || 'jobs').split('/');
  if (name === 'main') return;
  const main = $('main');
  main.replaceChildren();
  main.dataset.view = VIEWS[name] ? name : 'jobs';
  draw = (VIEWS[name] || jobs).view(main, rest.join('/'));
  for (const a of document.querySelectorAll('nav a')) {
    if (a.getAttribute('href') === `#${name}`) a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
  }
  document.title = `${name === 'job' ? `Job ${rest.join('/')}` : name[0].toUpperCase() + name.slice(1)} · Cede`;
}

function state() {
  const link = $('link');
  const to = store.linked ? 'on' : 'off';
  if (link.dataset.state !== to) {
    link.dataset.state = to;
    link.textContent = store.linked ? 'up to date' : 'not connected; what is shown may be old';
  }
  $('server').textContent = store.server ? store.server.id : '';
  document.body.dataset.ready = store.ready ? 'yes' : 'no';
  draw?.();
}

function ask(why) {
  const login = $('login');
  $('login-why').textContent = why;
  token.clear();
  $('token').value = '';
  if (!login.open) login.showModal();
  return new Promise((done) => {
    login.addEventListener('close', () => { token.set($('token').value); done(); }, { once: true });
  });
}

function theme(to) {
  document.documentElement.dataset.theme = to;
  localStorage.setItem('cede-theme', to);
}

$('login').addEventListener('cancel', (e) => e.preventDefault());
$('theme').addEventListener('click', () => {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  theme(dark ? 'light' : 'dark');
});
if (localStorage.getItem('cede-theme')) theme(localStorage.getItem('cede-theme'));
addEventListener('hashchange', show);
subscribe(state);
setInterval(() => draw?.(), 30000);
show();
if (!token.get()) await ask('');
follow((problem) => ask(problem.message));
