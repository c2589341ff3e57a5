/** Bounds, pauses, and which calls are made once more. */
import { ConnectionLost } from './errors.mjs';

/** The longest message that is read: far above what a broker may say, far below what memory holds. */
export const MESSAGE_LIMIT = 16 << 20;
/** So many events, or so many bytes of them, wait to be read before the broker is left to hold, and in the end to drop, the others. */
export const EVENT_LIMIT = 1000, EVENT_BYTE_LIMIT = 4 << 20;
/** For the daemon's first word, in ms: it may have a vault to recover; the most that it may ask for beyond that. */
export const READY_MS = 15_000, KEY_MS = 600_000;
/** For an owner that holds the lock and does not listen yet; until another start is tried; between two looks. In ms. */
export const OWNED_MS = 5_000, RETRY_MS = 250, PAUSE_MS = 5;
/** How long the question which state directory is served may take, in ms. */
export const PROBE_MS = 60_000;
/** How much longer than the broker's own time limit its answer is waited for: it is on this machine. */
export const ANSWER_SECONDS = 5;
/** How long an answer is waited for where the caller does not say: more than any method takes by itself. */
const USUAL_SECONDS = 60;
/** A vault's key may be asked of a person, a vault be long to look through, a login elsewhere take its time. */
const LONGER_SECONDS = { unlock: 660, rekey: 660, checkVault: 660, awaitLogin: 3600 };
export const answerSeconds = (method, { timeoutSeconds = 0 } = {}) => Math.max(
  LONGER_SECONDS[method] ?? USUAL_SECONDS, timeoutSeconds + ANSWER_SECONDS);
/** How long one request waits for what a person does elsewhere, and how many connections may be lost meanwhile. */
export const AWAIT_SECONDS = 20, LOSS_LIMIT = 3;
/** The pauses before another try where the broker was lost, and the life of one that does not end at once, in ms. */
export const FIRST_PAUSE_MS = 100, LONGEST_PAUSE_MS = 2_000, USUAL_LIFE_MS = 10_000;
/** The longest time that a timer of Node knows (24 days); a longer one would end at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Requests that change nothing, or nothing more the second time: sent again where the broker has ended. */
const REPEATABLE = new Set(['initialize', 'ping', 'rpc.discover', 'getAccessToken', 'reportRejected', 'getIdToken',
  'awaitLogin', 'listPendingLogins', 'getCurrentUser', 'getSession', 'listSessions', 'getStatus', 'checkVault',
  'lock']);
/** Whether an error says that this broker answers no more requests, so that the next one is to be asked. */
export const hasEnded = ({ kind }) => kind === 'connectionLost' || kind === 'shuttingDown';
/** Whether a call that has failed is made once more, at the next broker. */
export const isRepeated = (method, error) => (error instanceof ConnectionLost && !error.sent)
  || (hasEnded(error) && REPEATABLE.has(method));
/** What leaves a challenge as it is, so that the person may try again. */
export const TRY_AGAIN = new Set(['otpInvalid', 'backupCodeInvalid', 'resendTooSoon']);
