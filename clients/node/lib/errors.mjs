/** The errors of the package, and what the others share. */
import { challenge } from './values.mjs';
import { LONGEST_CHALLENGE, LONGEST_TIMER_MS } from './limits.mjs';

/** Text of another program, made fit for a terminal. */
export const plain = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '?');
/** Waits; ends early where the signal is given. */
export const pause = (ms, signal) => new Promise((resolve) => {
  if (ms <= 0 || signal?.aborted) { resolve(); return; }
  const timer = setTimeout(() => { signal?.removeEventListener('abort', early); resolve(); }, ms);
  const early = () => { clearTimeout(timer); resolve(); };
  signal?.addEventListener('abort', early, { once: true });
});
export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

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
  constructor(status = 401, challenge = undefined) {
    super(`the API refused the access token (HTTP status ${status})`, 'unauthorized');
    this.status = status;
    if (challenge !== undefined) this.challenge = challenge;
  }
}

/** How a response refuses the token, where another one may help: by 401, or by 403 with the wish for more scopes. */
export function refusalIn({ status, headers }) {
  const challenge = headers.get('WWW-Authenticate') ?? '';
  if (status !== 401 && !(status === 403 && challenge.includes('insufficient_scope'))) return undefined;
  const isTaken = challenge !== '' && Buffer.byteLength(challenge) <= LONGEST_CHALLENGE;
  return new Unauthorized(status, isTaken ? challenge : undefined);
}

/** The broker's own error; `data` has every member that came with it. */
export class BrokerError extends AuthBrokerError {
  constructor(code, message, data) {
    super(plain(message), typeof data.kind === 'string' ? data.kind : 'unknown',
      typeof data.nextAction === 'string' ? data.nextAction : 'none', data.retryable === true);
    this.code = code;
    Object.defineProperty(this, 'data', { value: data, enumerable: false });
    for (const name of ['retryAfterSeconds', 'attemptsRemaining', 'profile', 'pointer', 'correlationId', 'scopes', 'acrValues',
      'maxAge']) {
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

const DEADLINE = 1087;

/** The time limit of a call is over, whether the broker says so or this package. */
export class TimedOut extends BrokerRefusal {
  constructor(code = DEADLINE, message = 'the broker did not answer in time', data = undefined) {
    super(code, message, data ?? { kind: 'deadlineExceeded', nextAction: 'retry', retryable: true });
    this.answered = data !== undefined;
  }
}

/** Waits for what goes on, whether it is waited for or not, until a time of `performance.now`; then the error is TimedOut. */
export async function within(promise, deadline, signal) {
  let timer, aborted;
  const end = new Promise((_, reject) => {
    aborted = () => reject(signal.reason);
    signal?.addEventListener('abort', aborted, { once: true });
    const ms = Math.min(Math.max(deadline - performance.now(), 0), LONGEST_TIMER_MS);
    if (deadline !== Infinity) timer = setTimeout(() => reject(new TimedOut()), ms);
  });
  try { return await Promise.race([promise, end]); } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', aborted);
  }
}

const CLASSES = [[-32700, -32600, RequestError], [-32800, -32800, Cancelled], [1001, 1019, AuthenticationRequired],
  [1020, 1039, CredentialError], [1040, 1059, ProviderError], [1060, 1079, VaultError], [1080, 1099, BrokerRefusal]];

export function brokerError(error) {
  if (!isObject(error) || typeof error.message !== 'string' || !Number.isInteger(error.code)) {
    return new UnexpectedAnswer('an error without code and message');
  }
  // -32603 to -32600 are one range with -32700.
  const ofRange = CLASSES.find(([low, high]) => error.code >= low && error.code <= high)?.[2] ?? BrokerError;
  const Kind = error.code === DEADLINE ? TimedOut : ofRange;
  return new Kind(error.code, error.message, isObject(error.data) ? error.data : {});
}

/** Leaves out members that have no value. */
export const given = (members) => Object.fromEntries(
  Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
