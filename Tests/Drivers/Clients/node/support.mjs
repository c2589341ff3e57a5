// What the tests of the Node package stand on: a home of its own, a broker in it, and brokers that misbehave.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

export const BIN = process.env.AUTHBROKER_TEST_BIN;
export const EMAIL = 'ada@example.com';
export const PASSWORD = 'made-up password 1';
/** Above all that a test waits for on a busy machine, in ms. */
export const PATIENCE = 120_000;
const environment = { ...process.env };

export const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** Waits until a condition holds; fails if it does not in time. */
export async function until(condition, what) {
  for (const deadline = Date.now() + PATIENCE; ;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`did not come about: ${what}`);
    await pause(5);
  }
}

/** A home of its own, which is the process's environment until `dispose`. */
export class Sandbox {
  constructor(config) {
    this.root = fs.mkdtempSync('/tmp/ab-');
    this.state = `${this.root}/state`;
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, {
      PATH: `${BIN}:${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`, HOME: this.root, LANG: 'C.UTF-8', XDG_RUNTIME_DIR: this.root,
      AUTHBROKER_STATE: this.state, NO_COLOR: '1', TERM: 'dumb' });
    if (config) {
      process.env.AUTHBROKER_CONFIG = `${this.root}/config.json`;
      fs.writeFileSync(process.env.AUTHBROKER_CONFIG, JSON.stringify(config));
    }
  }

  /** Ends the broker in order, and removes everything. */
  dispose() {
    delete process.env.AUTHBROKER_SOCKET;
    this.stop();
    const left = this.pid();
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, environment);
    fs.rmSync(this.root, { recursive: true, force: true });
    if (left) throw new Error('the broker did not end');
  }

  stop() { spawnSync(`${BIN}/authbroker`, ['stop'], { stdio: 'ignore', timeout: PATIENCE }); }

  /** The broker's process; undefined if there is none. */
  pid() {
    try {
      const { pid } = JSON.parse(fs.readFileSync(`${this.state}/broker.lock`, 'utf8'));
      return /\) [^Z]/.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8')) ? pid : undefined;
    } catch { return undefined; }
  }

  /** Kills the broker and waits for its end. */
  async kill() {
    const pid = this.pid();
    process.kill(pid, 'SIGKILL');
    // Its sockets are closed with its last thread: until then its main thread alone is a zombie.
    const isOver = () => {
      try {
        return /\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8')) && fs.readdirSync(`/proc/${pid}/task`).length === 1;
      } catch { return true; }
    };
    await until(isOver, 'the end of the broker');
  }

  /** The newest code of the embedded provider that is not among those known. */
  newest(...known) {
    const folder = `${this.state}/local-provider/outbox`;
    return until(() => fs.readdirSync(folder).filter((name) => name.endsWith('.json')).sort().reverse()
      .map((name) => JSON.parse(fs.readFileSync(`${folder}/${name}`, 'utf8')).code).find((code) => code && !known.includes(code)), 'a message');
  }
}

/** Makes an account and, without a phone number, a session. */
export const register = (broker, more = {}) => broker.call('register', { email: EMAIL, password: PASSWORD, ...more });

/** A message as a line. */
export const line = (message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;

/** The result of `getAccessToken`, with an obviously fake token. */
export const tokenOf = (number, changes = {}) => ({
  accessToken: `fake-token-${number}`, tokenType: 'Bearer', expiresAt: '2030-01-01T00:00:00Z', scopes: [], profile: 'default',
  tokenId: `id${number}`, ...changes });

/** Listens on a socket: `answer(request)` gives text; undefined: nothing is said; '': the connection is closed. */
export class FakeBroker {
  received = [];
  connections = 0;
  #clients = new Set();

  static async listen(file, answer) {
    const fake = new FakeBroker();
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    fake.server = net.createServer((client) => fake.#serve(client, answer));
    await new Promise((resolve) => { fake.server.listen(file, resolve); });
    fs.chmodSync(file, 0o600);
    return fake;
  }

  requests(method) { return this.received.filter((request) => request.method === method); }

  /** Sends what nothing has asked for. */
  send(text) { for (const client of this.#clients) client.write(text); }

  async close() {
    const closed = new Promise((resolve) => { this.server.close(resolve); });
    for (const client of this.#clients) client.destroy();
    await closed;
  }

  #serve(client, answer) {
    this.connections += 1;
    this.#clients.add(client);
    let text = '';
    client.on('error', () => {});
    client.on('close', () => this.#clients.delete(client));
    client.on('data', (data) => {
      text += data;
      const lines = text.split('\n');
      text = lines.pop();
      for (const request of lines.map((one) => JSON.parse(one))) {
        this.received.push(request);
        const said = answer(request);
        if (said === '') client.destroy();
        else if (said !== undefined) client.write(said);
      }
    });
  }
}
