/** The owner of a state directory, as its lock file names it, and which one a connection was made for. */
import fs from 'node:fs';
import path from 'node:path';

/** What the owner of a state directory says about itself; undefined if there is no record that this user wrote. */
export function ownerOf(lock) {
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
export function isOwner(record) {
  try {
    return fs.readFileSync('/proc/locks', 'latin1').split('\n').some((line) => {
      const words = line.trim().split(/\s+/);
      return words[1] === 'FLOCK' && words[3] === 'WRITE' && Number(words[5]?.split(':')[2]) === record.inode;
    });
  } catch { return fs.existsSync(`/proc/${record.pid}`); }
}

/** Whether two paths lead to the same file. */
export function isSame(one, other) {
  if (one === other) return true;
  try {
    const [a, b] = [fs.statSync(one), fs.statSync(other)];
    return a.ino === b.ino && a.dev === b.dev;
  } catch { return false; }
}

/** Which socket a file is, whatever it is called. */
export const socketIdentity = (status) => `${status.dev}:${status.ino}`;

const places = new WeakMap();

/** Notes for which state directory a connection was made, and to which socket. */
export function setPlace(connection, place) { places.set(connection, place); }

/** The state directory that a connection was made for, if the socket is the one of its owner's record. */
export function ownedState(connection) {
  const { state, identity } = places.get(connection) ?? {};
  const owner = state && ownerOf(`${state}/broker.lock`);
  if (!owner || !isOwner(owner)) return { state, isOwned: false };
  try { return { state, isOwned: socketIdentity(fs.lstatSync(owner.socket)) === identity }; } catch {
    return { state, isOwned: false };
  }
}
