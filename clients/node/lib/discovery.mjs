/** How the broker is found, or started. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { Channel } from './channel.mjs';
import { BrokerError, Closed, NoBroker, TimedOut, isObject, pause, plain } from './errors.mjs';
import { KEY_MS, OWNED_MS, PAUSE_MS, PROBE_MS, READY_MS, RETRY_MS } from './limits.mjs';
import { isOwner, isSame, ownerOf, setPlace, socketIdentity } from './owner.mjs';

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
    server: environment.AUTHBROKER_SERVER_UID || undefined,
    socket: runtime ? path.join(runtime, 'authbroker/broker.sock') : `${state}/run/broker.sock`,
  };
}

const changeable = (place) => new NoBroker(
  `${plain(place)} can be changed by other users; choose a socket elsewhere; nothing was sent`);

/** The users whose socket is trusted: this one and root, or the one that is named instead; undefined: any. */
function usersOf(server) {
  if (server === undefined) return [process.geteuid(), 0];
  if (server === 'any') return undefined;
  if (/^\d+$/.test(server)) return [Number(server)];
  const entry = fs.readFileSync('/etc/passwd', 'utf8').split('\n').map((line) => line.split(':')).find(([name]) => name === server);
  if (entry) return [Number(entry[2])];
  throw new NoBroker(`AUTHBROKER_SERVER_UID must be the name or the number of a user, or any, not ${plain(server)}`);
}

/** Refuses a way to a socket that another user could change: by a directory, or by a symbolic link. */
function checkWay(directory, users) {
  const isTrustedUser = (uid) => uid === 0 || uid === process.geteuid() || !users || users.includes(uid);
  const left = directory.split('/').reverse();
  for (let place = '', links = 0; ;) {
    const here = place || '/';
    const status = fs.lstatSync(here);
    if (!isTrustedUser(status.uid) || (status.mode & 0o022 && !(status.mode & 0o1000))) {
      throw changeable(here);
    }
    let next;
    do { next = left.pop(); } while (next === '' || next === '.');
    if (next === undefined) return;
    if (next === '..') { place = place.slice(0, Math.max(place.lastIndexOf('/'), 0)); continue; }
    const link = fs.lstatSync(`${place}/${next}`);
    if (!link.isSymbolicLink()) { place += `/${next}`; continue; }
    // 40: as many as the kernel follows (path_resolution(7)).
    if (!isTrustedUser(link.uid) || ++links > 40) {
      throw changeable(`${place}/${next}`);
    }
    const target = fs.readlinkSync(`${place}/${next}`);
    if (path.isAbsolute(target)) place = '';
    left.push(...target.split('/').reverse());
  }
}

/** The identity of a socket that no other user can have made or can replace; throws `NoBroker` for any other. */
function trusted(file, server) {
  const status = fs.lstatSync(file);
  const users = usersOf(server);
  if (users && !users.includes(status.uid)) {
    throw new NoBroker(`${plain(file)} belongs to user ${status.uid}, who is not trusted; nothing was sent`);
  }
  if (!status.isSocket()) throw new NoBroker(`${plain(file)} is no socket; nothing was sent`);
  if (status.mode & 0o002) throw new NoBroker(`${plain(file)} is open to every user; nothing was sent`);
  checkWay(path.dirname(file), users);
  return socketIdentity(status);
}

/** Connects; undefined if no broker listens. */
async function openSocket(file, state, server) {
  const absent = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'];
  let connection;
  try {
    const identity = trusted(file, server);
    connection = await new Promise((resolve, reject) => {
      const socket = net.createConnection({ path: file });
      socket.once('error', reject);
      socket.once('connect', () => { socket.off('error', reject); resolve(socket); });
    });
    if (trusted(file, server) !== identity) {
      throw new NoBroker(`${plain(file)} was replaced while it was being used; try again`);
    }
    // Looked at by `close`, which follows.
    connection.on('error', () => {});
    setPlace(connection, { state, identity });
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
    const connection = await openSocket(owner.socket, paths.state);
    if (connection) return connection;
  }
  // A service manager's socket is there before its owner is; it may as well be the socket of another state directory.
  const probe = await openSocket(paths.socket, paths.state);
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
  return openSocket(paths.socket, paths.state);
}

/** Finds the broker, or starts one, and connects. */
export async function connect(location, environment = process.env) {
  const paths = pathsOf(location, environment);
  if (paths.fixed) {
    const connection = await openSocket(paths.fixed, paths.state, paths.server);
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
export async function start(program, paths, environment) {
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
