// Time limits and cancellation of calls that wait for a broker which starts, or for one that says nothing.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { Broker, NoBroker, TimedOut } from 'authbroker';

import { FakeBroker, PATIENCE, Sandbox, line, until } from './support.mjs';

let sandbox, broker;

beforeEach(() => { sandbox = new Sandbox(); });
afterEach(() => {
  broker?.close();
  sandbox.dispose();
});

describe('a daemon that does not come to its first word', { timeout: PATIENCE }, () => {
  const started = () => { try { return Number(fs.readFileSync(`${sandbox.root}/pid`, 'utf8')); } catch { return undefined; } };

  beforeEach(() => {
    const daemon = `${sandbox.root}/daemon`;
    fs.writeFileSync(daemon, `#!/bin/sh\necho $$ >'${sandbox.root}/pid.new'\nmv '${sandbox.root}/pid.new' '${sandbox.root}/pid'\n`
      + 'exec sleep 1000\n', { mode: 0o700 });
    process.env.AUTHBROKER_DAEMON = daemon;
    broker = new Broker();
  });
  afterEach(() => { delete process.env.AUTHBROKER_DAEMON; });

  test('a call has its time limit and its signal; another one waits on', async () => {
    const waiting = broker.call('ping').then(() => undefined, (error) => error);
    for (const ask of [() => broker.session({ timeoutSeconds: 0.2 }), () => broker.events({ timeoutSeconds: 0.2 })]) {
      const begun = performance.now();
      await assert.rejects(ask(), (error) => error instanceof TimedOut && !error.answered);
      assert.ok(performance.now() - begun < 10_000);
    }
    for (const ask of [(options) => broker.accessToken(options), (options) => broker.events(options)]) {
      const controller = new AbortController();
      const call = ask({ signal: controller.signal });
      controller.abort(new Error('left'));
      await assert.rejects(call, { message: 'left' });
    }
    process.kill(await until(started, 'the daemon'), 'SIGKILL');
    assert.ok(await waiting instanceof NoBroker);
  });
});

test('the next event has a time limit and a signal of its own', { timeout: PATIENCE }, async () => {
  const file = `${sandbox.root}/fake/broker.sock`;
  const event = { subscriptionId: 's', sequence: 2, event: 'login', profile: 'default', time: '2030-01-01T00:00:00Z', data: {} };
  const fake = await FakeBroker.listen(file, ({ id, method }) => {
    if (method === 'subscribe') return line({ id, result: { subscriptionId: 's', sequence: 1, sessions: [] } });
    return line({ id, result: {} });
  });
  broker = new Broker({ socket: file });
  const events = await broker.events();
  await assert.rejects(events.next({ timeoutSeconds: 0.1 }), TimedOut);
  const controller = new AbortController();
  const waiting = events.next({ signal: controller.signal });
  controller.abort(new Error('left'));
  await assert.rejects(waiting, { message: 'left' });
  // The subscription stands: what comes later is the next caller's.
  const next = events.next({ timeoutSeconds: 60 });
  fake.send(line({ method: 'event', params: event }));
  assert.equal((await next).value.sequence, 2);
  events.close();
  assert.equal((await events.next({ timeoutSeconds: 60 })).done, true);
  await fake.close();
});

test('a subscription that is not answered is left by its signal', { timeout: PATIENCE }, async () => {
  const file = `${sandbox.root}/fake/broker.sock`;
  const controller = new AbortController();
  const fake = await FakeBroker.listen(file, ({ method }) => {
    if (method === 'subscribe') controller.abort(new Error('left'));
  });
  broker = new Broker({ socket: file });
  await assert.rejects(broker.events({ signal: controller.signal }), { message: 'left' });
  await fake.close();
});
