/**
 * Fresh access tokens from the AuthBroker daemon, which is started where it does not run.
 *
 *     import { Broker } from 'authbroker';
 *     const broker = new Broker();
 *     const token = await broker.accessToken();
 *     await fetch(url, { headers: { Authorization: token.authorizationHeader } });
 *
 * It speaks JSON-RPC lines over the broker's Unix socket. Node cannot ask the kernel who listens there (SO_PEERCRED),
 * so that owner and mode of the socket and of every directory on the way to it are checked instead, before a byte is
 * sent.
 * It is one file without dependencies, long as it is, so that a program which is not installed with npm can take a copy
 * of it; its sections are errors, values, finding the broker, one connection, the client, events, prompts.
 * `authbroker.d.ts` has the types and describes the interface.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { ReadStream } from 'node:tty';
import { inspect } from 'node:util';

/** The longest message that is read: far above what a broker may say, far below what memory holds. */
const MESSAGE_LIMIT = 16 << 20;
/** So many events wait to be read before the broker is left to hold, and in the end to drop, the others. */
const EVENT_LIMIT = 1000;
/** For the daemon's first word, in ms: it may have a vault to recover; the most that it may ask for beyond that. */
const READY_MS = 15_000, KEY_MS = 600_000;
/** For an owner that holds the lock and does not listen yet; until another start is tried; between two looks. In ms. */
const OWNED_MS = 5_000, RETRY_MS = 250, PAUSE_MS = 5;
/** How long the question which state directory is served may take, in ms. */
const PROBE_MS = 60_000;
/** How much longer than the broker's own time limit its answer is waited for: it is on this machine. */
const ANSWER_SECONDS = 5;
/** How long one request waits for what a person does elsewhere, and how many connections may be lost meanwhile. */
const AWAIT_SECONDS = 20, LOSS_LIMIT = 3;
/** The pauses before another try where the broker was lost, and the life of one that does not end at once, in ms. */
const FIRST_PAUSE_MS = 100, LONGEST_PAUSE_MS = 2_000, USUAL_LIFE_MS = 10_000;
/** The longest time that a timer of Node knows (24 days); a longer one would end at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Requests that change nothing, or nothing more the second time: sent again where the broker has ended. */
const REPEATABLE = new Set(['initialize', 'ping', 'rpc.discover', 'getAccessToken', 'reportRejected', 'getIdToken',
  'awaitLogin', 'listPendingLogins', 'getCurrentUser', 'getSession', 'listSessions', 'getStatus', 'checkVault',
  'lock']);
/** Whether an error says that this broker answers no more requests, so that the next one is to be asked. */
const hasEnded = ({ kind }) => kind === 'connectionLost' || kind === 'shuttingDown';
/** Whether a call that has failed is made once more, at the next broker. */
const isRepeated = (method, error) => (error instanceof ConnectionLost && !error.sent)
  || (hasEnded(error) && REPEATABLE.has(method));
/** What leaves a challenge as it is, so that the person may try again. */
const TRY_AGAIN = new Set(['otpInvalid', 'backupCodeInvalid', 'resendTooSoon']);

/** Text of another program, made fit for a terminal. */
const plain = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '?');
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

// Errors

/** Anything that keeps a call from its result; its message is one sentence without secrets. */
export class AuthBrokerError extends Error {
  constructor(message, kind = 'error', nextAction = 'none', retryable = false) {
    super(message);
    this.name = new.target.name;
    this.kind = kind;
    this.nextAction = nextAction;
    this.retryable = retryable;
  }
}

export class NoBroker extends AuthBrokerError {
  constructor(message) { super(message, 'noBroker'); }
}

export class ConnectionLost extends AuthBrokerError {
  constructor(sent = true) {
    super('the broker closed the connection before it answered', 'connectionLost', 'retry', true);
    this.sent = sent;
  }
}

export class TimedOut extends AuthBrokerError {
  constructor() { super('the broker did not answer in time', 'timedOut', 'retry', true); }
}

export class Closed extends AuthBrokerError {
  constructor() { super('this client was closed', 'closed'); }
}

export class UnexpectedAnswer extends AuthBrokerError {
  constructor(what) { super(`the broker's answer is not what was expected: ${what}`, 'unexpectedAnswer'); }
}

export class NoTerminal extends AuthBrokerError {
  constructor() { super('there is no terminal to ask at; pass prompts of your own', 'noTerminal'); }
}

export class Unauthorized extends AuthBrokerError {
  constructor(status = 401) {
    super(`the API refused the access token (HTTP status ${status})`, 'unauthorized');
    this.status = status;
  }
}

/** The broker's own error; `data` has every member that came with it. */
export class BrokerError extends AuthBrokerError {
  constructor(code, message, data) {
    super(plain(message), typeof data.kind === 'string' ? data.kind : 'unknown',
      typeof data.nextAction === 'string' ? data.nextAction : 'none', data.retryable === true);
    this.code = code;
    Object.defineProperty(this, 'data', { value: data, enumerable: false });
    for (const name of ['retryAfterSeconds', 'attemptsRemaining', 'profile', 'pointer', 'correlationId']) {
      if (data[name] !== undefined) this[name] = data[name];
    }
  }

  /** The challenge that `challengePending` carries. */
  get challenge() { return this.data.challenge; }
}

export class RequestError extends BrokerError {}
export class Cancelled extends BrokerError {}
export class AuthenticationRequired extends BrokerError {}
export class CredentialError extends BrokerError {}
export class ProviderError extends BrokerError {}
export class VaultError extends BrokerError {}
export class BrokerRefusal extends BrokerError {}

const CLASSES = [[-32700, -32600, RequestError], [-32800, -32800, Cancelled], [1001, 1019, AuthenticationRequired],
  [1020, 1039, CredentialError], [1040, 1059, ProviderError], [1060, 1079, VaultError], [1080, 1099, BrokerRefusal]];

function brokerError(error) {
  if (!isObject(error) || typeof error.message !== 'string' || !Number.isInteger(error.code)) {
    return new UnexpectedAnswer('an error without code and message');
  }
  // -32603 to -32600 are one range with -32700.
  const Kind = CLASSES.find(([low, high]) => error.code >= low && error.code <= high)?.[2] ?? BrokerError;
  return new Kind(error.code, error.message, isObject(error.data) ? error.data : {});
}

// Values

/** A member of a result; what does not fit is told by its name alone. */
function member(object, name, type) {
  if (!isObject(object)) throw new UnexpectedAnswer('the result must be an object');
  const value = object[name];
  const fits = type === 'list' ? Array.isArray(value) : type === 'object' ? isObject(value) : typeof value === type;
  if (!fits) throw new UnexpectedAnswer(`/${name} must be of type ${type}`);
  return value;
}

function timeOf(object, name) {
  if (object[name] === null || object[name] === undefined) return null;
  const time = new Date(member(object, name, 'string'));
  if (Number.isNaN(time.getTime())) throw new UnexpectedAnswer(`/${name} must be a time`);
  return time;
}

/** An access token: no text, log line or JSON shows it; `value` and `authorizationHeader` give it. */
export class AccessToken {
  #value;

  constructor(result) {
    this.#value = member(result, 'accessToken', 'string');
    this.tokenType = member(result, 'tokenType', 'string');
    this.expiresAt = timeOf(result, 'expiresAt');
    this.scopes = member(result, 'scopes', 'list');
    this.profile = member(result, 'profile', 'string');
    this.tokenId = member(result, 'tokenId', 'string');
    this.offline = result.offline === true;
    Object.freeze(this);
  }

  get value() { return this.#value; }

  get authorizationHeader() { return `${this.tokenType} ${this.#value}`; }

  expiresInSeconds() { return this.expiresAt === null ? null : (this.expiresAt.getTime() - Date.now()) / 1000; }

  equals(other) { return other instanceof AccessToken && other.tokenId === this.tokenId; }

  toString() { return `[AccessToken ${this.tokenId}]`; }

  toJSON() { return { tokenId: this.tokenId, profile: this.profile, expiresAt: this.expiresAt }; }

  [inspect.custom]() {
    const expiry = this.expiresAt?.toISOString();
    return `AccessToken { tokenId: '${this.tokenId}', profile: '${this.profile}', expiresAt: ${expiry} }`;
  }
}

/** An ID token, hidden in the same way. */
export class IdToken {
  #value;

  constructor(result) {
    this.#value = member(result, 'idToken', 'string');
    this.expiresAt = timeOf(result, 'expiresAt');
    Object.freeze(this);
  }

  get value() { return this.#value; }

  toString() { return '[IdToken]'; }

  toJSON() { return { expiresAt: this.expiresAt }; }
}

function loginResult(result) {
  member(result, 'status', 'string');
  const carried = { authenticated: 'session', otpRequired: 'challenge', userActionRequired: 'action' }[result.status];
  if (carried) member(result, carried, 'object');
  return result;
}

function session(result) {
  for (const name of ['profile', 'provider', 'state']) member(result, name, 'string');
  return result;
}

function challenge(result) {
  for (const name of ['otpFlowId', 'profile', 'method']) member(result, name, 'string');
  member(result, 'otpLength', 'number');
  return result;
}

// Finding and starting the broker

/** Where the files of a state directory are; asks no file system. */
function pathsOf(location, environment) {
  for (const name of ['AUTHBROKER_STATE', 'AUTHBROKER_CONFIG', 'AUTHBROKER_SOCKET']) {
    if (environment[name] && !path.isAbsolute(environment[name])) {
      throw new NoBroker(`${name} must be an absolute path, not ${plain(environment[name])}`);
    }
  }
  const isAbsolute = (value) => value !== undefined && path.isAbsolute(value);
  const home = isAbsolute(environment.HOME) ? path.join(environment.HOME, '.local/state') : undefined;
  const base = isAbsolute(environment.XDG_STATE_HOME) ? environment.XDG_STATE_HOME : home;
  const usual = base && path.join(base, 'authbroker');
  const chosen = location.state || environment.AUTHBROKER_STATE;
  const state = chosen ? path.resolve(chosen) : usual;
  if (!state) {
    throw new NoBroker('HOME is not set to an absolute path, so there is no default state directory; '
      + 'set AUTHBROKER_STATE to one');
  }
  const runtime = state === usual && isAbsolute(environment.XDG_RUNTIME_DIR) ? environment.XDG_RUNTIME_DIR : undefined;
  const config = location.config || environment.AUTHBROKER_CONFIG;
  const fixed = location.socket || environment.AUTHBROKER_SOCKET;
  return {
    state, lock: `${state}/broker.lock`, config: config && path.resolve(config), fixed: fixed && path.resolve(fixed),
    socket: runtime ? path.join(runtime, 'authbroker/broker.sock') : `${state}/run/broker.sock`,
  };
}

/** What the owner of a state directory says about itself; undefined if there is no record that this user wrote. */
function ownerOf(lock) {
  try {
    const file = fs.openSync(lock, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
    try {
      const status = fs.fstatSync(file);
      if (!status.isFile() || status.uid !== process.geteuid() || status.mode & 0o077) return undefined;
      const record = JSON.parse(fs.readFileSync(file, 'utf8'));
      if (!Number.isInteger(record.pid) || record.pid < 1 || !path.isAbsolute(record.socket)) return undefined;
      return { ...record, inode: status.ino };
    } finally { fs.closeSync(file); }
  } catch { return undefined; }
}

/** Whether the process of a record lives and holds the lock, by /proc/locks (proc(5)): Node has no flock(2). */
function isOwner(record) {
  try {
    return fs.readFileSync('/proc/locks', 'latin1').split('\n').some((line) => {
      const words = line.trim().split(/\s+/);
      return words[1] === 'FLOCK' && words[3] === 'WRITE' && Number(words[5]?.split(':')[2]) === record.inode;
    });
  } catch { return fs.existsSync(`/proc/${record.pid}`); }
}

const changeable = (place) => new NoBroker(
  `${plain(place)} can be changed by other users; choose a socket elsewhere; nothing was sent`);

/** Refuses a way to a socket that another user could change: by a directory, or by a symbolic link. */
function checkWay(directory) {
  const own = process.geteuid();
  const left = directory.split('/').reverse();
  for (let place = '', links = 0; ;) {
    const here = place || '/';
    const status = fs.lstatSync(here);
    const isTrusted = status.uid === 0 || status.uid === own;
    if (!isTrusted || (status.mode & 0o022 && !(status.mode & 0o1000))) {
      throw changeable(here);
    }
    let next;
    do { next = left.pop(); } while (next === '' || next === '.');
    if (next === undefined) return;
    if (next === '..') { place = place.slice(0, Math.max(place.lastIndexOf('/'), 0)); continue; }
    const link = fs.lstatSync(`${place}/${next}`);
    if (!link.isSymbolicLink()) { place += `/${next}`; continue; }
    // 40: as many as the kernel follows (path_resolution(7)).
    if ((link.uid !== 0 && link.uid !== own) || ++links > 40) {
      throw changeable(`${place}/${next}`);
    }
    const target = fs.readlinkSync(`${place}/${next}`);
    if (path.isAbsolute(target)) place = '';
    left.push(...target.split('/').reverse());
  }
}

/** The identity of a socket that no other user can have made or can replace; throws `NoBroker` for any other. */
function trusted(file) {
  const status = fs.lstatSync(file);
  if (status.uid !== process.geteuid()) {
    throw new NoBroker(`${plain(file)} belongs to user ${status.uid}, not to you; nothing was sent`);
  }
  if (!status.isSocket()) throw new NoBroker(`${plain(file)} is no socket; nothing was sent`);
  if (status.mode & 0o002) throw new NoBroker(`${plain(file)} is open to every user; nothing was sent`);
  checkWay(path.dirname(file));
  return `${status.dev}:${status.ino}`;
}

/** Connects; undefined if no broker listens. */
async function openSocket(file) {
  const absent = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'];
  let connection;
  try {
    const identity = trusted(file);
    connection = await new Promise((resolve, reject) => {
      const socket = net.createConnection({ path: file });
      socket.once('error', reject);
      socket.once('connect', () => { socket.off('error', reject); resolve(socket); });
    });
    if (trusted(file) !== identity) {
      throw new NoBroker(`${plain(file)} was replaced while it was being used; try again`);
    }
    // Looked at by `close`, which follows.
    connection.on('error', () => {});
    return connection;
  } catch (error) {
    connection?.destroy();
    if (error instanceof NoBroker) throw error;
    if (absent.includes(error.code)) return undefined;
    throw new NoBroker(`the broker's socket ${plain(file)} cannot be reached: ${error.code}`);
  }
}

/** Connects to a broker that is there already; undefined if there is none. */
async function find(paths) {
  const owner = ownerOf(paths.lock);
  // A killed owner leaves its record behind, and its socket's path may be another owner's by now.
  if (owner && isOwner(owner)) {
    if (paths.config && owner.config !== paths.config) {
      const used = plain(owner.config ?? '(none)');
      throw new NoBroker(
        `the running broker uses the configuration ${used}, not ${plain(paths.config)}; stop it to change over`);
    }
    const connection = await openSocket(owner.socket);
    if (connection) return connection;
  }
  // A service manager's socket is there before its owner is; it may as well be the socket of another state directory.
  const probe = await openSocket(paths.socket);
  if (!probe) return undefined;
  const channel = new Channel(probe);
  try {
    await channel.ask('checkVault', { full: false }, { timeoutSeconds: PROBE_MS / 1000 });
  } catch (error) {
    const proof = error instanceof BrokerError ? error.data.proof : undefined;
    const served = isObject(proof) && typeof proof.path === 'string' ? path.dirname(proof.path) : undefined;
    if (served !== undefined && !isSame(served, paths.state)) {
      throw new NoBroker(
        `the broker on ${plain(paths.socket)} serves the state directory ${plain(served)}, not ${plain(paths.state)}`);
    }
    if (error instanceof TimedOut) throw new NoBroker(`the broker on ${plain(paths.socket)} does not answer`);
  } finally { channel.close(new Closed()); }
  return openSocket(paths.socket);
}

function isSame(one, other) {
  if (one === other) return true;
  try {
    const [a, b] = [fs.statSync(one), fs.statSync(other)];
    return a.ino === b.ino && a.dev === b.dev;
  } catch { return false; }
}

/** Finds the broker, or starts one, and connects. */
async function connect(location, environment = process.env) {
  const paths = pathsOf(location, environment);
  if (paths.fixed) {
    const connection = await openSocket(paths.fixed);
    if (connection) return connection;
    throw new NoBroker(`no broker listens on ${plain(paths.fixed)}, which was chosen; start that broker`);
  }
  const found = await find(paths);
  if (found) return found;
  if (location.start) return launch(paths, environment);
  throw new NoBroker(`no broker listens on ${plain(paths.socket)}; start one with: authbroker serve`);
}

/** The daemon's program: `AUTHBROKER_DAEMON`, or the first `authbrokerd` in `PATH`. */
function daemonOf(environment) {
  if (environment.AUTHBROKER_DAEMON) return environment.AUTHBROKER_DAEMON;
  for (const directory of (environment.PATH ?? '').split(':')) {
    const program = path.join(directory, 'authbrokerd');
    try {
      fs.accessSync(program, fs.constants.X_OK);
      if (path.isAbsolute(program)) return program;
    } catch { /* the next one */ }
  }
  throw new NoBroker('no broker runs, and there is no authbrokerd in PATH to start one with; '
    + 'set AUTHBROKER_DAEMON to where it is');
}

/** Starts an owner. The daemon's own lock decides where several clients do: all but one are told that it is owned. */
async function launch(paths, environment) {
  const program = daemonOf(environment);
  makePrivate(paths.state);
  const deadline = Date.now() + OWNED_MS;
  for (let wait = RETRY_MS; ; wait *= 2) {
    const word = await start(program, paths, environment);
    // An owner that is coming up will listen soon; one that is going will release its lock, so it is tried again.
    const end = word === 'ready' ? 0 : Math.min(deadline, Date.now() + wait);
    do {
      const found = await find(paths);
      if (found) return found;
      await pause(PAUSE_MS);
    } while (Date.now() < end);
    if (word === 'ready' || Date.now() > deadline) {
      throw new NoBroker(`the broker of ${plain(paths.state)} does not answer; see ${plain(paths.state)}/broker.log`);
    }
  }
}

function makePrivate(directory) {
  let status;
  try {
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
    status = fs.lstatSync(directory);
  } catch (error) { throw new NoBroker(`the state directory ${plain(directory)} cannot be used: ${error.code}`); }
  if (!status.isDirectory() || status.uid !== process.geteuid()) {
    throw new NoBroker(`the state directory ${plain(directory)} is no directory of yours; choose another`);
  }
  if (status.mode & 0o077) {
    throw new NoBroker(`the state directory ${plain(directory)} is open to others; run: chmod 700 ${plain(directory)}`);
  }
}

/** Executes the daemon in a session of its own; gives `ready` or `owned`, throws what it says instead. */
async function start(program, paths, environment) {
  const file = `${paths.state}/broker.log`;
  const isInherited = ([name]) => !/^(GLIBC_TUNABLES$|LD_|MALLOC_)/.test(name);
  const env = Object.fromEntries(Object.entries(environment).filter(isInherited));
  const chosen = paths.config ? ['--config', paths.config] : [];
  const words = ['--state', paths.state, ...chosen, '--on-demand', '--ready-fd', '3'];
  let log;
  try {
    const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = fs.constants;
    log = fs.openSync(file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  } catch (error) { throw new NoBroker(`the broker's log ${plain(file)} cannot be written: ${error.code}`); }
  let child;
  try {
    child = spawn(program, words, { cwd: '/', env, detached: true, stdio: ['ignore', 'ignore', log, 'pipe'] });
  } finally { fs.closeSync(log); }
  const said = await firstLine(child, program);
  const [word, code, ...reason] = plain(said).split(' ');
  if (word === 'ready' || word === 'owned') return word;
  if (word === 'error' && code === 'owned') return 'owned';
  if (word === 'error' && reason.length > 0) throw new NoBroker(reason.join(' '));
  throw new NoBroker(`the broker did not start; see ${plain(file)}, and whether ${plain(program)} is the daemon`);
}

/** The daemon's word on descriptor 3; it may ask for more time by `wait SECONDS`. Empty if it says none in time. */
function firstLine(child, program) {
  const pipe = child.stdio[3];
  return new Promise((resolve, reject) => {
    let text = '';
    let timer;
    const settle = (finish, value) => {
      clearTimeout(timer);
      pipe?.destroy();
      child.unref();
      finish(value);
    };
    const wait = (ms) => {
      clearTimeout(timer);
      timer = setTimeout(() => settle(resolve, ''), ms);
    };
    wait(READY_MS);
    child.once('error', (error) => settle(reject, new NoBroker(
      `the daemon ${plain(program)} cannot be started: ${error.code}; set AUTHBROKER_DAEMON to where it is`)));
    pipe?.on('error', () => {});
    pipe?.once('close', () => settle(resolve, ''));
    pipe?.on('data', (data) => {
      text += data.toString('utf8');
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        const line = text.slice(0, end);
        text = text.slice(end + 1);
        const seconds = /^wait (\d+)$/.exec(line)?.[1];
        if (seconds === undefined) { settle(resolve, line); return; }
        wait(Math.min(Number(seconds) * 1000, KEY_MS) + READY_MS);
      }
      if (text.length > 4096) settle(resolve, '');
    });
  });
}

// One connection

/** A connected socket, and the requests that are under way on it. It keeps the program alive only while one is. */
class Channel {
  #socket;
  #waiting = new Map();
  #chunks = [];
  #length = 0;
  #lastId = 0;
  #proving = Promise.resolve();
  #isRetired = false;
  /** Why it is of no more use. */
  failure;

  constructor(socket, { onEvent } = {}) {
    this.#socket = socket;
    this.onEvent = onEvent;
    socket.on('data', (data) => this.#receive(data));
    // All answers were read then; a later call must not meet a socket that closes.
    socket.once('end', () => this.close(new ConnectionLost()));
    socket.once('close', () => this.close(new ConnectionLost()));
    if (socket.destroyed) this.close(new ConnectionLost());
    socket.unref();
  }

  /** Ends the connection; every call that waits is rejected with the reason. */
  close(reason) {
    if (this.failure) return;
    this.failure = reason;
    this.#socket.destroy();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(reason);
    this.onEnd?.();
  }

  /** Whether requests may be sent. */
  get isOpen() { return this.failure === undefined && !this.#isRetired; }

  /** Takes no more calls; the connection ends with the last one that is under way. */
  retire() {
    this.#isRetired = true;
    if (this.#waiting.size === 0) this.close(new ConnectionLost());
  }

  pause() { this.#socket.pause(); }

  resume() { this.#socket.resume(); }

  /** Keeps the program alive, or not. */
  hold(isHeld) { if (isHeld) this.#socket.ref(); else this.#socket.unref(); }

  /** Calls a method; gives the proof of access to the state directory where the broker asks for it. */
  async call(method, params, options) {
    try { return await this.ask(method, params, options); } catch (error) {
      const proof = proofOf(error);
      if (!proof) throw error;
      // One after the other: a proof that was asked for may have been given for another call meanwhile.
      const turn = this.#proving.then(() => this.#prove(proof, options));
      this.#proving = turn.catch(() => {});
      await turn;
    }
    return this.ask(method, params, options);
  }

  async #prove({ file, nonce }, options) {
    if (!createProof(file, nonce)) return;
    try { await this.ask('prove', {}, options); } finally { fs.rmSync(file, { force: true }); }
  }

  /** Sends a request and waits for its answer. */
  ask(method, params = {}, { timeoutSeconds, signal } = {}) {
    if (!this.isOpen) {
      const isLost = this.#isRetired || this.failure instanceof ConnectionLost;
      return Promise.reject(isLost ? new ConnectionLost(false) : this.failure);
    }
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      let timer;
      const leave = (error) => {
        this.#send({ jsonrpc: '2.0', method: '$/cancelRequest', params: { id } });
        this.#waiting.get(id)?.reject(error);
      };
      const aborted = () => leave(signal.reason);
      const settle = (finish) => (value) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', aborted);
        this.#waiting.delete(id);
        if (this.#waiting.size === 0) this.hold(false);
        if (this.#isRetired) this.retire();
        finish(value);
      };
      const line = { jsonrpc: '2.0', id, method, params };
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject) });
      const failed = (error) => {
        // The kernel has refused it: the broker has ended before, and has not read it.
        const isUnread = ['EPIPE', 'ERR_STREAM_DESTROYED'].includes(error?.code);
        if (isUnread) this.#waiting.get(id)?.reject(new ConnectionLost(false));
        if (error) this.close(new ConnectionLost());
      };
      try { this.#send(line, failed); } catch (error) { settle(reject)(error); return; }
      this.hold(true);
      signal?.addEventListener('abort', aborted, { once: true });
      if (timeoutSeconds !== undefined) {
        timer = setTimeout(() => leave(new TimedOut()), Math.min(timeoutSeconds * 1000, LONGEST_TIMER_MS));
      }
    });
  }

  #send(message, done) { this.#socket.write(`${JSON.stringify(message)}\n`, done); }

  #receive(data) {
    let rest = data;
    for (let end = rest.indexOf(10); end >= 0 && !this.failure; end = rest.indexOf(10)) {
      const line = Buffer.concat([...this.#chunks, rest.subarray(0, end)]);
      this.#chunks = [];
      this.#length = 0;
      rest = rest.subarray(end + 1);
      if (line.length > 0) this.#take(line);
    }
    if (rest.length > 0) this.#chunks.push(rest);
    this.#length += rest.length;
    if (this.#length > MESSAGE_LIMIT) this.close(new UnexpectedAnswer('a message without an end'));
  }

  #take(line) {
    // The parser's own error quotes the line, so that it must not be a cause.
    let message;
    try { message = JSON.parse(line.toString('utf8')); } catch { message = undefined; }
    const refuse = (what) => this.close(new UnexpectedAnswer(what));
    if (!isObject(message) || message.jsonrpc !== '2.0') return refuse('a line that is no JSON-RPC 2.0 message');
    if (message.method !== undefined) {
      if (message.method !== 'event') return undefined;
      const event = message.params;
      const fits = isObject(event) && Number.isInteger(event.sequence) && typeof event.event === 'string';
      return fits ? this.onEvent?.(event) : refuse('an event without a sequence');
    }
    if (('result' in message) === ('error' in message)) return refuse('an answer to no request');
    const error = 'error' in message ? brokerError(message.error) : undefined;
    // The broker's words about the connection itself: it closes it.
    if (message.id === null) return this.close(error ?? new ConnectionLost());
    const call = this.#waiting.get(message.id);
    return error ? call?.reject(error) : call?.resolve(message.result);
  }
}

/** The file that an error asks for; undefined where it asks for none, or for one that no broker would choose. */
function proofOf(error) {
  const proof = error instanceof BrokerError ? error.data.proof : undefined;
  const { path: file, nonce } = isObject(proof) ? proof : {};
  if (typeof file !== 'string' || typeof nonce !== 'string' || !path.isAbsolute(file)) return undefined;
  return /^prove-[0-9a-f]{32}$/.test(path.basename(file)) && /^[0-9a-f]{64}$/.test(nonce) ? { file, nonce } : undefined;
}

/** Makes that file, in a directory that belongs to this user alone; false if it cannot be made, or is there already. */
function createProof(file, nonce) {
  try {
    const status = fs.lstatSync(path.dirname(file));
    if (!status.isDirectory() || status.uid !== process.geteuid() || status.mode & 0o077) return false;
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = fs.constants;
    const descriptor = fs.openSync(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try { fs.writeSync(descriptor, nonce); } catch { /* On a full disk its name alone has to do. */ }
    fs.closeSync(descriptor);
    return true;
  } catch { return false; }
}

// The client

/** Leaves out members that have no value. */
const given = (members) => Object.fromEntries(
  Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
/** How long to wait for an answer to a request that carries its own time limit. */
const patient = ({ timeoutSeconds, ...options }) => ({
  ...options, timeoutSeconds: timeoutSeconds === undefined ? undefined : timeoutSeconds + ANSWER_SECONDS });

export class Broker {
  #location;
  #channel;
  #opening;
  #isClosed = false;

  constructor({ state, config, socket, start = true } = {}) {
    this.#location = { state, config, socket, start };
  }

  close() {
    this.#isClosed = true;
    this.#channel?.close(new Closed());
  }

  async call(method, params = {}, options = {}) {
    const limit = options.timeoutSeconds;
    const deadline = limit === undefined ? undefined : performance.now() / 1000 + limit;
    for (let isLast = false; ; isLast = true) {
      options.signal?.throwIfAborted();
      const channel = this.#channel?.isOpen ? this.#channel : await this.#open();
      if (this.#isClosed) throw new Closed();
      const timeoutSeconds = deadline === undefined ? undefined : Math.max(deadline - performance.now() / 1000, 0);
      try { return await channel.call(method, given(params), { ...options, timeoutSeconds }); } catch (error) {
        if (hasEnded(error)) channel.retire();
        if (isLast || !isRepeated(method, error)) throw error;
      }
    }
  }

  async #open() {
    if (this.#isClosed) throw new Closed();
    this.#opening ??= connect(this.#location).then((socket) => {
      this.#channel = new Channel(socket);
      if (this.#isClosed) this.#channel.close(new Closed());
      return this.#channel;
    }).finally(() => { this.#opening = undefined; });
    return this.#opening;
  }

  async accessToken({ profile, minValiditySeconds, scopes, audience, forceRefresh, waitForLogin, ...options } = {}) {
    const { timeoutSeconds } = options;
    const params = { profile, minValiditySeconds, scopes, audience, forceRefresh, waitForLogin, timeoutSeconds };
    return new AccessToken(await this.call('getAccessToken', params, patient(options)));
  }

  async reportRejected(token, { status, scopes, audience, ...options } = {}) {
    const params = { profile: token.profile, tokenId: token.tokenId, status, scopes, audience };
    return new AccessToken(await this.call('reportRejected', params, options));
  }

  async withAccessToken(use, options = {}) {
    const { scopes, audience, signal, timeoutSeconds } = options;
    let token = await this.accessToken(options);
    for (let isLast = false; ; isLast = true) {
      let outcome;
      try { outcome = await use(token); } catch (error) {
        if (!(error instanceof Unauthorized) || isLast) throw error;
        outcome = error;
      }
      const isResponse = outcome instanceof Response && outcome.status === 401;
      if (!(outcome instanceof Unauthorized) && !isResponse) return outcome;
      const { status } = outcome;
      const fresh = isLast ? token
        : await this.reportRejected(token, { status, scopes, audience, signal, timeoutSeconds });
      // The same token would be refused again.
      if (fresh.equals(token)) {
        if (isResponse) return outcome;
        throw outcome;
      }
      if (isResponse) await outcome.body?.cancel();
      token = fresh;
    }
  }

  async idToken({ profile, ...options } = {}) {
    return new IdToken(await this.call('getIdToken', { profile }, options));
  }

  async login({ prompts, timeoutSeconds, signal, ...params } = {}) {
    const options = { timeoutSeconds, signal };
    if (!prompts) return loginResult(await this.call('login', params, options));
    await this.#askForCredentials(prompts, params, options);
    const result = loginResult(await this.call('login', params, options));
    const next = result.status === 'otpRequired'
      ? await this.#answer(prompts, challenge(result.challenge), options) : result;
    if (next.status !== 'userActionRequired') return next;
    await prompts.showAction(next.action);
    return this.#awaitAction(next.action.loginFlowId, options);
  }

  /** Asks for what a login by password takes, where no other way was chosen and none does without a password. */
  async #askForCredentials(prompts, params, options) {
    if (params.refreshToken !== undefined || (params.method !== undefined && params.method !== 'password')) return;
    const forms = (await this.session({ profile: params.profile, ...options })).login ?? [];
    const hasSome = ['method', 'email', 'phoneNumber', 'password'].some((name) => params[name] !== undefined);
    if (!hasSome && forms.some((form) => form.fields.length === 0)) return;
    const fields = forms.find((form) => form.method === 'password')?.fields ?? ['email', 'password'];
    const account = fields.find((name) => name !== 'password') ?? 'email';
    const hasAccount = params.email !== undefined || params.phoneNumber !== undefined;
    if (!hasAccount) params[account] = await prompts.account(account);
    if (params.password === undefined) params.password = await prompts.password();
  }

  /** Answers with codes until one is right or the challenge has ended. */
  async #answer(prompts, first, options) {
    let now = first;
    for (;;) {
      const { otpFlowId } = now;
      try {
        const answer = await this.#orCancel({ otpFlowId }, prompts.code(now));
        if (answer.resend) now = await this.resendOtp(otpFlowId, options);
        else if (answer.backupCode === undefined) return await this.verifyOtp(otpFlowId, answer.code, options);
        else return await this.verifyBackupCode(otpFlowId, answer.backupCode, options);
      } catch (error) {
        if (!(error instanceof BrokerError) || !TRY_AGAIN.has(error.kind)) throw error;
        await prompts.showRefusal?.(error);
      }
    }
  }

  /** Waits for what is to be done elsewhere, by short requests and across restarts of the broker. */
  async #awaitAction(loginFlowId, { signal }) {
    for (let losses = 0; ;) {
      try {
        const waiting = this.awaitLogin(loginFlowId, { signal, timeoutSeconds: AWAIT_SECONDS });
        return await this.#orCancel({ loginFlowId }, waiting, signal);
      } catch (error) {
        if (error instanceof BrokerError && error.kind === 'deadlineExceeded') losses = 0;
        else if (!(error instanceof ConnectionLost) || ++losses >= LOSS_LIMIT) throw error;
      }
    }
  }

  /** Waits for a person; a login that the program leaves is cancelled. */
  async #orCancel(flow, waiting, signal) {
    try { return await waiting; } catch (error) {
      const isLeft = signal?.aborted || !(error instanceof AuthBrokerError);
      if (isLeft) await this.call('cancelLogin', flow, { timeoutSeconds: ANSWER_SECONDS }).catch(() => {});
      throw error;
    }
  }

  async verifyOtp(otpFlowId, code, options = {}) {
    return loginResult(await this.call('verifyOtp', { otpFlowId, code }, options));
  }

  async verifyBackupCode(otpFlowId, backupCode, options = {}) {
    return loginResult(await this.call('verifyBackupCode', { otpFlowId, backupCode }, options));
  }

  async resendOtp(otpFlowId, options = {}) { return challenge(await this.call('resendOtp', { otpFlowId }, options)); }

  async awaitLogin(loginFlowId, options = {}) {
    const params = { loginFlowId, timeoutSeconds: options.timeoutSeconds };
    return loginResult(await this.call('awaitLogin', params, patient(options)));
  }

  async logout({ profile, everywhere, all, ...options } = {}) {
    return member(await this.call('logout', { profile, everywhere, all }, options), 'results', 'list');
  }

  async session({ profile, ...options } = {}) { return session(await this.call('getSession', { profile }, options)); }

  async sessions(options = {}) {
    return member(await this.call('listSessions', {}, options), 'sessions', 'list').map(session);
  }

  async events({ events, profiles, since, patienceSeconds, signal, timeoutSeconds } = {}) {
    const stream = new Events(this.#location, { events, profiles, since, patienceSeconds, signal });
    await stream.begin({ signal, timeoutSeconds });
    return stream;
  }
}

/** The events of a subscription, over a connection of its own and across restarts of the broker. */
export class Events {
  #location;
  #wanted;
  #profiles;
  #since;
  #patienceMs;
  #channel;
  #queue = [];
  #waiter;
  #failure;
  #began = -Infinity;
  #pauseMs = 0;
  #mayStart = true;
  #isReconnecting = false;

  constructor(location, { events, profiles, since, patienceSeconds, signal }) {
    this.#location = location;
    this.#wanted = events && new Set(events);
    this.#profiles = profiles;
    this.#since = since;
    this.lastSequence = since ?? 0;
    this.#patienceMs = patienceSeconds === undefined ? Infinity : patienceSeconds * 1000;
    signal?.addEventListener('abort', () => this.close(), { once: true });
  }

  /** Subscribes; called once, by `Broker.events`. */
  async begin(options) { await this.#subscribe(this.#location, options); }

  close() { this.#end(new Closed()); }

  [Symbol.asyncIterator]() { return this; }

  /** Waits for the next event; done after `close`. */
  async next() {
    for (;;) {
      const event = this.#queue.shift();
      if (event === undefined) {
        if (this.#failure) {
          if (this.#failure instanceof Closed) return { done: true, value: undefined };
          throw this.#failure;
        }
        this.#channel?.resume();
        await this.#arrival();
      } else if (event.event === 'resync' || this.#take(event)) {
        return { done: false, value: event };
      }
    }
  }

  /** Leaving a loop ends the subscription. */
  async return() {
    this.close();
    return { done: true, value: undefined };
  }

  /** Waits until there is something to look at; the program lives on meanwhile. */
  async #arrival() {
    // A connection that waits holds the program; without one, the timer of the next try does.
    this.#channel?.hold(true);
    await new Promise((resolve) => { this.#waiter = resolve; });
    this.#channel?.hold(false);
  }

  #wake() {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.();
  }

  #end(reason) {
    this.#failure ??= reason;
    this.#channel?.close(reason);
    this.#wake();
  }

  #take(event) {
    this.#since = this.lastSequence = Math.max(event.sequence, this.lastSequence);
    return !this.#wanted || this.#wanted.has(event.event) || event.event === 'eventsLost';
  }

  async #subscribe(location, options) {
    const channel = new Channel(await connect(location));
    const early = [];
    let put = (event) => early.push(event);
    channel.onEvent = (event) => {
      // After an orderly end this client does not start the broker that a person has just stopped.
      if (event.event === 'shuttingDown') this.#mayStart = false;
      put(event);
    };
    try {
      const heard = this.#wanted && [...new Set([...this.#wanted, 'shuttingDown'])];
      const params = given({ events: heard, profiles: this.#profiles, since: this.#since });
      const snapshot = await channel.ask('subscribe', params, options);
      member(snapshot, 'subscriptionId', 'string');
      member(snapshot, 'sequence', 'number');
      member(snapshot, 'sessions', 'list');
      this.snapshot = snapshot;
    } catch (error) { channel.close(new Closed()); throw error; }
    const { sequence, sessions, subscriptionId, resync } = this.snapshot;
    if (this.#since === undefined || resync) this.#since = this.lastSequence = sequence;
    if (resync) this.#queue.push({ subscriptionId, sequence, event: 'resync', data: {}, sessions });
    this.#queue.push(...early);
    put = (event) => {
      if (this.#queue.push(event) >= EVENT_LIMIT) channel.pause();
      this.#wake();
    };
    this.#began = Date.now();
    this.#mayStart = true;
    this.#channel = channel;
    channel.onEnd = () => this.#lost(channel.failure);
    if (channel.failure) this.#lost(channel.failure);
    else if (this.#failure) channel.close(this.#failure);
    else if (this.#waiter) channel.hold(true);
    this.#wake();
  }

  /** Goes on with another connection. */
  async #lost(reason) {
    if (this.#failure || this.#isReconnecting) return;
    if (!(reason instanceof ConnectionLost)) { this.#end(reason); return; }
    this.#isReconnecting = true;
    if (Date.now() - this.#began >= USUAL_LIFE_MS) this.#pauseMs = 0;
    const deadline = Date.now() + this.#patienceMs;
    for (let failure = reason; !this.#failure;) {
      if (Date.now() >= deadline) { this.#end(failure); break; }
      await pause(Math.min(this.#pauseMs, deadline - Date.now()));
      this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
      if (this.#failure) break;
      try {
        await this.#subscribe({ ...this.#location, start: this.#location.start && this.#mayStart });
        break;
      } catch (error) {
        failure = error;
        if (!['noBroker', 'connectionLost', 'shuttingDown', 'overloaded'].includes(error.kind)) this.#end(error);
      }
    }
    this.#isReconnecting = false;
  }
}

// Prompts

/** Asks at the terminal of the process (`/dev/tty`), secrets without echo. */
export class TerminalPrompts {
  /** What was typed behind the end of a line. */
  #ahead = '';

  account(field) { return this.#ask(field === 'phoneNumber' ? 'Your phone number: ' : 'Your e-mail address: ', true); }

  password() { return this.#ask('Password: ', false); }

  async code({ method, maskedDestination, otpLength, backupCodesAllowed, expiresAt }) {
    const minutes = Math.max(1, Math.round((Date.parse(expiresAt) - Date.now()) / 60_000));
    const carrier = method === 'sms' ? 'SMS' : 'e-mail';
    const place = `${maskedDestination ? ` to ${plain(maskedDestination)}` : ''} by ${carrier}`;
    const expiry = `it expires in ${minutes} minute${minutes === 1 ? '' : 's'}`;
    tell(method === 'totp' ? `enter the ${otpLength}-digit code of your authenticator`
      : `sent a ${otpLength}-digit code${place}; ${expiry}`);
    const question = backupCodesAllowed ? 'Code or backup code' : 'Code';
    const typed = await this.#ask(question + (method === 'totp' ? ': ' : ' (r sends another): '), false);
    if (/^\s*(r|resend)\s*$/i.test(typed)) return { resend: true };
    // One digit more than a code has is a slip.
    const isBackupCode = /[a-z]/i.test(typed) || typed.replace(/\D/g, '').length >= otpLength + 2;
    return backupCodesAllowed && isBackupCode ? { backupCode: typed } : { code: typed };
  }

  showAction({ kind, verificationUri, userCode }) {
    const place = kind === 'browser' ? 'in a browser on this computer' : 'on any device';
    tell(`${place}, open ${plain(verificationUri)}${userCode ? ` and enter the code ${plain(userCode)}` : ''}`);
  }

  showRefusal({ message, attemptsRemaining: left }) {
    tell(left === undefined ? message : `${message} ${left} attempt${left === 1 ? '' : 's'} left.`);
  }

  /** Asks, again after an empty line. The terminal is in raw mode meanwhile, and as it was afterwards. */
  async #ask(question, echoes) {
    for (;;) {
      const terminal = new ReadStream(openTerminal());
      try {
        terminal.setRawMode(true);
        tell(question, '');
        const line = await this.#line(terminal, echoes);
        if (line !== '') return line;
      } finally {
        terminal.setRawMode(false);
        terminal.destroy();
        tell('');
      }
    }
  }

  async #line(terminal, echoes) {
    let line = '';
    let text = this.#ahead;
    this.#ahead = '';
    const chunks = terminal.setEncoding('utf8')[Symbol.asyncIterator]();
    for (;;) {
      for (const [index, character] of [...text].entries()) {
        if (character === '\r' || character === '\n') {
          this.#ahead = [...text].slice(index + 1).join('');
          return line;
        }
        // Ctrl-C and Ctrl-D, which a terminal in raw mode does not act on; the delete and the backspace key.
        if (character === '\x03') throw new DOMException('the login was interrupted', 'AbortError');
        if (character === '\x04' && line === '') throw new NoTerminal();
        if (character === '\x7f' || character === '\b') {
          if (echoes && line !== '') tell('\b \b', '');
          line = [...line].slice(0, -1).join('');
        } else if (character >= ' ') {
          line += character;
          if (echoes) tell(character, '');
        }
      }
      const { done, value } = await chunks.next();
      if (done) throw new NoTerminal();
      text = value;
    }
  }
}

function openTerminal() {
  try { return fs.openSync('/dev/tty', fs.constants.O_RDWR | fs.constants.O_NOCTTY); } catch { throw new NoTerminal(); }
}

function tell(text, end = '\n') {
  const descriptor = openTerminal();
  try { fs.writeSync(descriptor, text + end); } finally { fs.closeSync(descriptor); }
}
