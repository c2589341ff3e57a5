/** What results hold: tokens, sessions, challenges. */
import { inspect } from 'node:util';
import { UnexpectedAnswer, isObject } from './errors.mjs';

/** A member of a result; what does not fit is told by its name alone. */
export function member(object, name, type) {
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

export function loginResult(result) {
  member(result, 'status', 'string');
  const carried = { authenticated: 'session', otpRequired: 'challenge', userActionRequired: 'action' }[result.status];
  if (carried) member(result, carried, 'object');
  return result;
}

export function session(result) {
  for (const name of ['profile', 'provider', 'state']) member(result, name, 'string');
  return result;
}

export function challenge(result) {
  for (const name of ['otpFlowId', 'profile', 'method']) member(result, name, 'string');
  member(result, 'otpLength', 'number');
  return result;
}
