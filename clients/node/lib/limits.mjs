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
/** A server's challenge that is longer, in bytes, the broker refuses: the token is reported without it. */
export const LONGEST_CHALLENGE = 8192;
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
  'createProof', 'awaitLogin', 'listPendingLogins', 'getCurrentUser', 'getSession', 'listSessions', 'listTargets',
  'getStatus', 'checkVault', 'lock', 'subscribe']);
/** Whether an error says that this broker answers no more requests, so that the next one is to be asked. */
export const hasEnded = ({ kind }) => kind === 'connectionLost' || kind === 'shuttingDown';
/** Whether a call that has failed is made once more, at the next broker. */
const isRepeated = (method, error) => (error instanceof ConnectionLost && !error.sent)
  || (hasEnded(error) && REPEATABLE.has(method));
/** The longest wait for a broker that ends (it waits 25 s for requests that spend a token), the longest pause meanwhile, in ms. */
const LONGEST_END_MS = 30_000, LONGEST_END_PAUSE_MS = 1_000;

/**
 * Whether a call that has failed is made once more, and after which pause: a broker that is about to end is asked again
 * until there is the next one, a lost connection is followed by one more try.
 */
export class Repetition {
  #method;
  #deadline;
  #end;
  #pauseMs = FIRST_PAUSE_MS;
  #wasLost = false;

  /** @param deadline the end of all tries, in ms of `performance.now` */
  constructor(method, deadline) {
    this.#method = method;
    this.#deadline = deadline;
  }

  /** How long to wait before the next try, in ms; throws the error where none is made. */
  pauseAfter(error) {
    if (!isRepeated(this.#method, error)) throw error;
    if (error.kind !== 'shuttingDown') {
      if (this.#wasLost) throw error;
      this.#wasLost = true;
      return 0;
    }
    const now = performance.now();
    this.#end ??= Math.min(now + LONGEST_END_MS, this.#deadline);
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(pauseMs * 2, LONGEST_END_PAUSE_MS);
    if (now + pauseMs >= this.#end) throw error;
    return pauseMs;
  }
}
/** What leaves a challenge as it is, so that the person may try again. */
export const TRY_AGAIN = new Set(['otpInvalid', 'backupCodeInvalid', 'resendTooSoon']);
