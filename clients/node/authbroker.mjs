/**
 * Fresh access tokens from the AuthBroker daemon, which is started where it does not run.
 *
 *     import { Broker } from 'authbroker';
 *     const broker = new Broker();
 *     const token = await broker.accessToken();
 *     await fetch(url, { headers: token.headers });
 *
 * It speaks JSON-RPC lines over the broker's Unix socket. Node cannot ask the kernel who listens there (SO_PEERCRED),
 * so that owner and mode of the socket and of every directory on the way to it are checked instead, before a byte is
 * sent.
 * Its parts lie in `lib`: errors, values, discovery, one connection, events, prompts. There are no dependencies, so a
 * program that is not installed with npm can take a copy of the folder.
 * `authbroker.d.ts` has the types and describes the interface.
 */
import { tokenOfAddress } from './lib/addresses.mjs';
import { Channel } from './lib/channel.mjs';
import { connect, start } from './lib/discovery.mjs';
import { AuthBrokerError, BrokerError, Closed, ConnectionLost, TimedOut, Unauthorized, given, pause, refusalIn, within }
  from './lib/errors.mjs';
import { Events } from './lib/events.mjs';
import { currentProfile } from './lib/profile.mjs';
import { ANSWER_SECONDS, AWAIT_SECONDS, LOSS_LIMIT, Repetition, TRY_AGAIN, answerSeconds, hasEnded } from
  './lib/limits.mjs';
import { AccessToken, IdToken, challenge, loginResult, member, session } from './lib/values.mjs';

export { AuthBrokerError, AuthenticationRequired, BrokerError, BrokerRefusal, Cancelled, Closed, ConnectionLost,
  CredentialError, NoBroker, NoTerminal, ProviderError, RequestError, TimedOut, Unauthorized, UnexpectedAnswer,
  VaultError } from './lib/errors.mjs';
export { AccessToken, IdToken } from './lib/values.mjs';
export { Events } from './lib/events.mjs';
export { TerminalPrompts } from './lib/prompts.mjs';

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
    const deadline = performance.now() + 1000 * (options.timeoutSeconds ?? answerSeconds(method, params));
    for (const repetition = new Repetition(method, deadline); ;) {
      options.signal?.throwIfAborted();
      const channel = this.#channel?.isOpen ? this.#channel : await within(this.#open(), deadline, options.signal);
      if (this.#isClosed) throw new Closed();
      const timeoutSeconds = Math.max(deadline - performance.now(), 0) / 1000;
      try { return await channel.call(method, given(params), { ...options, timeoutSeconds }); } catch (error) {
        if (hasEnded(error)) channel.retire();
        await pause(repetition.pauseAfter(error), options.signal);
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

  async accessToken({ profile, url, minValiditySeconds, scopes, audience, forceRefresh, waitForLogin, ...options } = {}) {
    const { timeoutSeconds } = options;
    const wanted = { minValiditySeconds, scopes, audience, forceRefresh, waitForLogin, timeoutSeconds };
    if (url !== undefined) {
      if (profile !== undefined) throw new TypeError('a token is asked for by a profile or by an address, not by both');
      return tokenOfAddress((method, params) => this.call(method, params, patient(options)), url, wanted);
    }
    const params = { profile: currentProfile(profile), ...wanted };
    return new AccessToken(await this.call('getAccessToken', params, patient(options)));
  }

  async reportRejected(token, { status, challenge: wanted, scopes, audience, ...options } = {}) {
    const params = { profile: token.profile, tokenId: token.tokenId, status, challenge: wanted, scopes, audience };
    return new AccessToken(await this.call('reportRejected', params, options), token.target);
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
      const isResponse = outcome instanceof Response;
      const refusal = isResponse ? refusalIn(outcome) : outcome;
      if (!(refusal instanceof Unauthorized)) return outcome;
      const fresh = isLast ? token : await this.reportRejected(
        token, { status: refusal.status, challenge: refusal.challenge, scopes, audience, signal, timeoutSeconds });
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
    return new IdToken(await this.call('getIdToken', { profile: currentProfile(profile) }, options));
  }

  async login({ prompts, timeoutSeconds, signal, ...wanted } = {}) {
    const params = { ...wanted, profile: currentProfile(wanted.profile) };
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
    const { login } = await this.session({ profile: params.profile, ...options });
    const forms = login ?? [];
    const hasSome = ['method', 'email', 'phoneNumber', 'password'].some((name) => params[name] !== undefined);
    // No way at all: no login is needed, and the broker says what to do instead.
    if (!hasSome && (login?.length === 0 || forms.some((form) => form.fields.length === 0))) return;
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
        if (error instanceof TimedOut && error.answered) losses = 0;
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
    const params = { profile: all ? profile : currentProfile(profile), everywhere, all };
    return member(await this.call('logout', params, options), 'results', 'list');
  }

  async session({ profile, ...options } = {}) {
    return session(await this.call('getSession', { profile: currentProfile(profile) }, options));
  }

  async sessions(options = {}) {
    return member(await this.call('listSessions', {}, options), 'sessions', 'list').map(session);
  }

  async events({ events, profiles, since, patienceSeconds, signal, timeoutSeconds } = {}) {
    const stream = new Events(this.#location, { events, profiles, since, patienceSeconds, signal });
    await stream.begin({ signal, timeoutSeconds });
    return stream;
  }
}
