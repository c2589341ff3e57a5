/** The file by which this package shows the owner of its own state directory that it has that directory. */
import fs from 'node:fs';
import path from 'node:path';
import { BrokerError, BrokerRefusal, isObject, plain } from './errors.mjs';
import { isSame, ownedState } from './owner.mjs';

/** What is for clients that have the state directory, besides `logout` with `all` and the methods with `Local`. */
const ADMINISTRATIVE = new Set(['rekey', 'lock', 'reloadConfig', 'stopBroker', 'checkVault', 'tryProvider',
  'continueTrial']);
/** What wants a recent login, which a proof takes the place of. */
const ACCOUNT_CHANGES = new Set(['login', 'register', 'updateProfile', 'generateBackupCodes', 'completeLogin']);

/** How the name of the file begins that a refusal asks for; undefined where this method is proven nothing for. */
export function wantedPath(error, method, params) {
  const proof = error instanceof BrokerError ? error.data.proof : undefined;
  if (!isObject(proof) || typeof proof.path !== 'string') return undefined;
  const isMeant = error.kind === 'reauthRequired' ? ACCOUNT_CHANGES.has(method)
    : error.kind === 'accessDenied' && (ADMINISTRATIVE.has(method) || method.includes('Local')
      || (method === 'logout' && params.all === true));
  return isMeant ? proof.path : undefined;
}

const unproven = (why) => new BrokerRefusal(1081, `access to the broker's state directory cannot be proven: ${why}`,
  { kind: 'accessDenied', nextAction: 'none', retryable: false });

/**
 * Creates that file, empty and named after this process, and gives its path; undefined if it is there already.
 *
 * Whatever else answers on a socket, a relay of another program's above all, gets nothing created, in no directory: the
 * file lies directly in the state directory that this package has found, and the socket is that of the owner which its
 * lock names. Node cannot ask the kernel who listens (SO_PEERCRED).
 */
export function createProof(asked, connection) {
  const { state, isOwned } = ownedState(connection);
  const directory = path.dirname(asked);
  const name = path.basename(asked);
  if (!state || !path.isAbsolute(asked) || path.normalize(asked) !== asked || asked.endsWith('/')
    || !isSame(directory, state)) {
    throw unproven(`the broker asks for a file in ${plain(directory)}, not in ${plain(state)}; nothing was created`);
  }
  if (!isOwned) {
    throw unproven(`the socket is not that of the broker which owns ${plain(state)}; nothing was created`);
  }
  if (name.startsWith('prove-')) {
    throw unproven('the running broker is of an earlier version; stop it to change over: authbroker stop');
  }
  const file = `${state}/${name}.${process.pid}`;
  try {
    const status = fs.lstatSync(state);
    if (!status.isDirectory() || status.uid !== process.geteuid() || status.mode & 0o077) {
      throw unproven(`${plain(state)} is not a directory of this user alone`);
    }
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = fs.constants;
    fs.closeSync(fs.openSync(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600));
    return file;
  } catch (error) {
    if (error.code === 'EEXIST') return undefined;
    if (error instanceof BrokerError) throw error;
    const why = ['ENOSPC', 'EDQUOT'].includes(error.code) ? '; its file system has no inode left, see: df -i' : '';
    throw unproven(`no file can be created in ${plain(state)}: ${error.code}${why}`);
  }
}

/** The error where the broker did not take the file. */
export const notTaken = (file) => unproven(
  `the broker does not find ${plain(file)}; it may run in another PID namespace, or see another file system`);
