/** Events, over restarts of the broker. */
import { Channel } from './channel.mjs';
import { connect } from './discovery.mjs';
import { Closed, ConnectionLost, given, pause, within } from './errors.mjs';
import { EVENT_BYTE_LIMIT, EVENT_LIMIT, FIRST_PAUSE_MS, LONGEST_PAUSE_MS, Repetition, USUAL_LIFE_MS, answerSeconds } from
  './limits.mjs';
import { member } from './values.mjs';

/** The events of a subscription, over a connection of its own and across restarts of the broker. */
export class Events {
  #location;
  #wanted;
  #profiles;
  #since;
  #patienceMs;
  #channel;
  #queue = [];
  #bytes = 0;
  #waiter;
  #failure;
  #began = -Infinity;
  #pauseMs = 0;
  #mayStart = true;
  #isReconnecting = false;

  constructor(location, { events, profiles, since, patienceSeconds, signal }) {
    this.#location = location;
    this.#wanted = events && new Set(events);
    this.#profiles = profiles;
    this.#since = since;
    this.lastSequence = since ?? 0;
    this.#patienceMs = patienceSeconds === undefined ? Infinity : patienceSeconds * 1000;
    signal?.addEventListener('abort', () => this.close(), { once: true });
  }

  /** Subscribes; called once, by `Broker.events`. */
  async begin({ signal, timeoutSeconds = answerSeconds('subscribe') }) {
    const deadline = performance.now() + 1000 * timeoutSeconds;
    for (const repetition = new Repetition('subscribe', deadline); ;) {
      signal?.throwIfAborted();
      try { await this.#subscribe(this.#location, { signal, deadline }); return; } catch (error) {
        await pause(repetition.pauseAfter(error), signal);
      }
    }
  }

  close() { this.#end(new Closed()); }

  [Symbol.asyncIterator]() { return this; }

  /** Waits for the next event; done after `close`. */
  async next({ timeoutSeconds = Infinity, signal } = {}) {
    const deadline = performance.now() + 1000 * timeoutSeconds;
    for (;;) {
      signal?.throwIfAborted();
      const event = this.#queue.shift();
      if (event === undefined) {
        if (this.#failure) {
          if (this.#failure instanceof Closed) return { done: true, value: undefined };
          throw this.#failure;
        }
        this.#bytes = 0;
        this.#channel?.resume();
        await this.#arrival(deadline, signal);
      } else if (event.event === 'resync' || this.#take(event)) {
        return { done: false, value: event };
      }
    }
  }

  /** Leaving a loop ends the subscription. */
  async return() {
    this.close();
    return { done: true, value: undefined };
  }

  /** Waits until there is something to look at; the program lives on meanwhile. */
  async #arrival(deadline, signal) {
    // A connection that waits holds the program; without one, the timer of the next try does.
    this.#channel?.hold(true);
    try {
      await within(new Promise((resolve) => { this.#waiter = resolve; }), deadline, signal);
    } finally { this.#channel?.hold(false); }
  }

  #wake() {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.();
  }

  #end(reason) {
    this.#failure ??= reason;
    this.#channel?.close(reason);
    this.#wake();
  }

  #take(event) {
    this.#since = this.lastSequence = Math.max(event.sequence, this.lastSequence);
    return !this.#wanted || this.#wanted.has(event.event) || event.event === 'eventsLost';
  }

  async #subscribe(location, { signal, deadline = performance.now() + 1000 * answerSeconds('subscribe') } = {}) {
    const connecting = connect(location);
    const socket = await within(connecting, deadline, signal).catch((error) => {
      // What is found later is closed.
      connecting.then((late) => late.destroy(), () => {});
      throw error;
    });
    const channel = new Channel(socket);
    const early = [];
    let put = (event) => early.push(event);
    channel.onEvent = (event, byteCount) => {
      // After an orderly end this client does not start the broker that a person has just stopped.
      if (event.event === 'shuttingDown') this.#mayStart = false;
      put(event, byteCount);
    };
    try {
      const heard = this.#wanted && [...new Set([...this.#wanted, 'shuttingDown'])];
      const params = given({ events: heard, profiles: this.#profiles, since: this.#since });
      const timeoutSeconds = Math.max(deadline - performance.now(), 0) / 1000;
      const snapshot = await channel.ask('subscribe', params, { signal, timeoutSeconds });
      member(snapshot, 'subscriptionId', 'string');
      member(snapshot, 'sequence', 'number');
      member(snapshot, 'sessions', 'list');
      this.snapshot = snapshot;
    } catch (error) { channel.close(new Closed()); throw error; }
    const { sequence, sessions, subscriptionId, resync } = this.snapshot;
    if (this.#since === undefined || resync) this.#since = this.lastSequence = sequence;
    if (resync) this.#queue.push({ subscriptionId, sequence, event: 'resync', data: {}, sessions });
    this.#queue.push(...early);
    put = (event, byteCount) => {
      this.#bytes += byteCount;
      if (this.#queue.push(event) >= EVENT_LIMIT || this.#bytes >= EVENT_BYTE_LIMIT) channel.pause();
      this.#wake();
    };
    this.#began = Date.now();
    this.#mayStart = true;
    this.#channel = channel;
    channel.onEnd = () => this.#lost(channel.failure);
    if (channel.failure) this.#lost(channel.failure);
    else if (this.#failure) channel.close(this.#failure);
    else if (this.#waiter) channel.hold(true);
    this.#wake();
  }

  /** Goes on with another connection. */
  async #lost(reason) {
    if (this.#failure || this.#isReconnecting) return;
    if (!(reason instanceof ConnectionLost)) { this.#end(reason); return; }
    this.#isReconnecting = true;
    if (Date.now() - this.#began >= USUAL_LIFE_MS) this.#pauseMs = 0;
    const deadline = Date.now() + this.#patienceMs;
    for (let failure = reason; !this.#failure;) {
      if (Date.now() >= deadline) { this.#end(failure); break; }
      await pause(Math.min(this.#pauseMs, deadline - Date.now()));
      this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
      if (this.#failure) break;
      try {
        await this.#subscribe({ ...this.#location, start: this.#location.start && this.#mayStart });
        break;
      } catch (error) {
        failure = error;
        if (!['noBroker', 'connectionLost', 'shuttingDown', 'overloaded'].includes(error.kind)) this.#end(error);
      }
    }
    this.#isReconnecting = false;
  }
}
