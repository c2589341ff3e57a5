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

/** What goes with the token of an address; frozen, without the members that are absent. */
function targetOf({ prefix, username, scheme }) {
  const target = { prefix: member({ prefix }, 'prefix', 'string') };
  if (username !== undefined) target.username = member({ username }, 'username', 'string');
  if (scheme !== undefined) target.scheme = member({ scheme }, 'scheme', 'string');
  return Object.freeze(target);
}

/** An access token: no text, log line or JSON shows it; `value`, `headers` and `authorizationHeader` give it. */
export class AccessToken {
  #value;
  #field;

  /** @param target the target that is known already, where the answer has none */
  constructor(result, target = result?.target) {
    this.#value = member(result, 'accessToken', 'string');
    this.tokenType = member(result, 'tokenType', 'string');
    // Only for a secret of the configuration; every other token is sent in Authorization.
    this.#field = result.header === undefined ? undefined : member(result, 'header', 'string');
    this.expiresAt = timeOf(result, 'expiresAt');
    this.scopes = member(result, 'scopes', 'list');
    this.profile = member(result, 'profile', 'string');
    this.tokenId = member(result, 'tokenId', 'string');
    this.offline = result.offline === true;
    this.target = target === undefined ? undefined : targetOf(target);
    Object.freeze(this);
  }

  get value() { return this.#value; }

  get headerName() { return this.target?.scheme === 'Basic' ? 'Authorization' : this.#field ?? 'Authorization'; }

  get headers() { return { [this.headerName]: this.authorizationHeader }; }

  get authorizationHeader() {
    if (this.target?.scheme !== 'Basic') {
      const isAlone = this.headerName.toLowerCase() !== 'authorization' || (this.#field !== undefined && this.tokenType === '');
      return isAlone ? this.#value : `${this.tokenType} ${this.#value}`;
    }
    // Servers that take a token as a password look at no user name, where the target has none.
    return `Basic ${Buffer.from(`${this.target.username ?? 'oauth2'}:${this.#value}`).toString('base64')}`;
  }

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
