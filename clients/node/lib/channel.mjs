/** One connection, and the requests that are under way on it. */
import fs from 'node:fs';
import { BrokerError, ConnectionLost, TimedOut, UnexpectedAnswer, brokerError, isObject, pause } from './errors.mjs';
import { LONGEST_TIMER_MS, MESSAGE_LIMIT, answerSeconds } from './limits.mjs';
import { createProof, notTaken, wantedPath } from './proof.mjs';

/** A connected socket, and the requests that are under way on it. It keeps the program alive only while one is. */
export class Channel {
  #socket;
  #waiting = new Map();
  #chunks = [];
  #length = 0;
  #lastId = 0;
  #proving = Promise.resolve();
  #isRetired = false;
  #isSubscribed = false;
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
      const asked = wantedPath(error, method, params);
      if (asked === undefined) throw error;
      // One after the other: a proof that was asked for may have been given for another call meanwhile.
      const turn = this.#proving.then(() => this.#prove(asked, options));
      this.#proving = turn.catch(() => {});
      try { await turn; } catch (failure) {
        // What another login would let pass keeps its own error.
        throw failure instanceof BrokerError && error.kind !== 'accessDenied' ? error : failure;
      }
    }
    return this.ask(method, params, options);
  }

  async #prove(asked, options) {
    const file = createProof(asked, this.#socket);
    if (file === undefined) return;
    try { await this.ask('prove', {}, options); } catch (error) {
      throw error instanceof BrokerError ? notTaken(file) : error;
    } finally { fs.rmSync(file, { force: true }); }
  }

  /** Sends a request and waits for its answer. */
  ask(method, params = {}, { timeoutSeconds = answerSeconds(method, params), signal } = {}) {
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
      this.#waiting.set(id, { method, resolve: settle(resolve), reject: settle(reject) });
      const failed = (error) => {
        // The kernel has refused it: the broker has ended before, and has not read it.
        const isUnread = ['EPIPE', 'ERR_STREAM_DESTROYED'].includes(error?.code);
        if (isUnread) this.#waiting.get(id)?.reject(new ConnectionLost(false));
        if (error) this.close(new ConnectionLost());
      };
      try { this.#send(line, failed); } catch (error) { settle(reject)(error); return; }
      this.hold(true);
      signal?.addEventListener('abort', aborted, { once: true });
      if (timeoutSeconds !== Infinity) {
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
      if (!fits) return refuse('an event without a sequence');
      // What was not subscribed to is not kept.
      return this.#isSubscribed ? this.onEvent?.(event, line.length) : undefined;
    }
    if (('result' in message) === ('error' in message)) return refuse('an answer to no request');
    const error = 'error' in message ? brokerError(message.error) : undefined;
    // The broker's words about the connection itself: it closes it.
    if (message.id === null) return this.close(error ?? new ConnectionLost());
    const call = this.#waiting.get(message.id);
    if (call?.method === 'subscribe') this.#isSubscribed = !error;
    return error ? call?.reject(error) : call?.resolve(message.result);
  }
}
