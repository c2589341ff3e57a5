// The Node package with brokers that misbehave, and with sockets that are not the user's.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';

import { AuthBrokerError, Broker, BrokerError, BrokerRefusal, ConnectionLost, CredentialError, NoBroker, RequestError,
  TimedOut, Unauthorized, UnexpectedAnswer } from 'authbroker';

import { FakeBroker, PATIENCE, Sandbox, line, tokenOf, until } from './support.mjs';

const SECRET = 'fake-secret-in-an-answer';
let sandbox, file, broker, fake;

beforeEach(() => {
  sandbox = new Sandbox();
  file = `${sandbox.root}/fake/broker.sock`;
  broker = new Broker({ socket: file });
});
afterEach(async () => {
  broker.close();
  await fake?.close();
  fake = undefined;
  sandbox.dispose();
});

/** The error on an answer; no text of it, and of what led to it, has the secret. */
async function refusal(answer) {
  fake = await FakeBroker.listen(file, (request) => answer.replace('"ID"', request.id));
  const one = new Broker({ socket: file });
  const error = await one.accessToken({ timeoutSeconds: 1 }).then(() => undefined, (reason) => reason);
  one.close();
  assert.deepEqual(fake.requests('prove'), []);
  await fake.close();
  fake = undefined;
  assert.ok(error instanceof AuthBrokerError, `${answer.slice(0, 60)}: ${error}`);
  assert.ok(!inspect(error, { depth: 9, showHidden: !(error instanceof BrokerError) }).includes(SECRET), answer.slice(0, 60));
  return error;
}

describe('answers', { timeout: PATIENCE }, () => {
  test('malformed ones are told without what they say', async () => {
    for (const answer of [`${SECRET}\n`, `{"jsonrpc":"2.0","id":"ID","result":"${SECRET}\n`, `["${SECRET}"]\n`, '{"id":"ID","result":{}}\n',
      `${'['.repeat(100_000)}\n`, line({ id: 'ID', result: SECRET }), line({ id: 'ID', result: tokenOf(1, { accessToken: [SECRET] }) }),
      line({ id: 'ID', result: tokenOf(1, { expiresAt: SECRET }) }), line({ id: 'ID', result: tokenOf(1, { scopes: SECRET }) }),
      line({ id: 'ID', result: tokenOf(1, { tokenId: null }) }), line({ id: 'ID' }), line({ id: 'ID', error: SECRET }),
      line({ id: 'ID', error: { code: 1001 } }), line({ id: 'ID', error: { message: 'x' } }),
      line({ id: 'ID', result: 1, error: { code: 1, message: 'x' } }), line({ method: 'event', params: [SECRET] })]) {
      const error = await refusal(answer);
      assert.ok(error instanceof UnexpectedAnswer, `${answer.slice(0, 60)}: ${error}`);
    }
  });

  test('a message without an end is not read for ever', async () => {
    assert.match((await refusal('x'.repeat(17 << 20))).message, /without an end/);
  });

  test('last words are the reason; a kind that is not known has its class', async () => {
    const words = await refusal(line({ id: null, error: { code: 1083, message: 'Too many\x1b[2J connections.', data: { kind: 'overloaded' } } }));
    assert.deepEqual([words.message, words.kind], ['Too many?[2J connections.', 'overloaded']);
    assert.ok(await refusal(line({ id: 'ID', error: { code: 1039, message: 'm', data: { kind: 'new' } } })) instanceof CredentialError);
    assert.ok(await refusal(line({ id: 'ID', error: { code: -32601, message: 'm' } })) instanceof RequestError);
    assert.equal((await refusal(line({ id: 'ID', error: { code: 7, message: 'm', data: null } }))).constructor, BrokerError);
  });

  test('answers to nothing and unknown notifications are passed over', async () => {
    const said = `\n${line({ id: 999, result: {} })}${line({ method: 'news', params: { a: 1 } })}`;
    fake = await FakeBroker.listen(file, ({ id }) => said + line({ id, result: tokenOf(1) }));
    assert.equal((await broker.accessToken()).tokenId, 'id1');
  });
});

describe('connections', { timeout: PATIENCE }, () => {
  const METHODS = ['getCurrentUser', 'checkVault', 'lock', 'getAccessToken', 'login', 'logout'];
  const TWICE = [2, 2, 2, 2, 1, 1];

  /** What becomes of each method: the result, or the kind of the error; and how often each was requested. */
  async function outcomes(answer) {
    fake = await FakeBroker.listen(file, answer);
    const came = [];
    for (const method of METHODS) came.push(await broker.call(method).catch(({ kind }) => kind));
    return [came, METHODS.map((method) => fake.requests(method).length), fake.connections];
  }

  test('a request of unknown effect is not repeated; one that changes nothing is, once', async () => {
    assert.deepEqual(await outcomes(() => ''), [METHODS.map(() => 'connectionLost'), TWICE, 10]);
  });

  test('the repetition has the answer, over a kept connection and over a new one', async () => {
    const once = ({ id, method }) => (fake.requests(method).length === 1 ? '' : line({ id, result: { n: 2 } }));
    const [came] = await outcomes(once);
    assert.deepEqual(came, [...Array(4).fill({ n: 2 }), 'connectionLost', 'connectionLost']);
  });

  test('a broker that ends is followed by the next', async () => {
    const error = { code: 1084, message: 'm', data: { kind: 'shuttingDown', nextAction: 'retry', retryable: true } };
    const later = ({ id, method }) => line(fake.requests(method).length < 4 ? { id, error } : { id, result: { n: 2 } });
    // Each refusal ended the use of a connection; the last one was the last request.
    const came = [...Array(4).fill({ n: 2 }), 'shuttingDown', 'shuttingDown'];
    assert.deepEqual(await outcomes(later), [came, [4, 4, 4, 4, 1, 1], 14]);
  });

  test('a broker that does not end is waited for within the time of the call', async () => {
    const error = { code: 1084, message: 'm', data: { kind: 'shuttingDown' } };
    fake = await FakeBroker.listen(file, ({ id }) => line({ id, error }));
    await assert.rejects(broker.call('lock', {}, { timeoutSeconds: 0.5 }), { kind: 'shuttingDown' });
    assert.ok(fake.requests('lock').length > 1);
    const controller = new AbortController();
    const call = broker.call('getStatus', {}, { signal: controller.signal });
    await until(() => fake.requests('getStatus').length > 2, 'a pause');
    controller.abort();
    await assert.rejects(call, { name: 'AbortError' });
  });

  test('a subscription begins at the next broker', async () => {
    const error = { code: 1084, message: 'm', data: { kind: 'shuttingDown' } };
    const result = { subscriptionId: 's', sequence: 1, sessions: [] };
    fake = await FakeBroker.listen(file, ({ id, method }) => line(
      fake.requests(method).length < 4 ? { id, error } : { id, result }));
    const events = await broker.events();
    assert.deepEqual([events.lastSequence, fake.connections], [1, 4]);
    events.close();
  });

  test('no call under way is lost with a broker that ends', async () => {
    const error = { code: 1084, message: 'm', data: { kind: 'shuttingDown' } };
    fake = await FakeBroker.listen(file, ({ id, method }) => {
      if (method === 'slow') return undefined;
      if (fake.requests('ping').length > 1) return line({ id, result: 7 });
      return line({ id, error }) + line({ id: fake.requests('slow')[0].id, result: 5 });
    });
    const slow = broker.call('slow');
    await until(() => fake.requests('slow').length === 1, 'the request');
    assert.deepEqual([await broker.call('ping'), await slow, fake.connections], [7, 5, 2]);
  });

  test('a token that is not replaced is not tried again', async () => {
    fake = await FakeBroker.listen(file, ({ id }) => line({ id, result: tokenOf(1) }));
    let calls = 0;
    await assert.rejects(broker.withAccessToken(() => { calls += 1; throw new Unauthorized(403, 'Bearer'); }), Unauthorized);
    const response = await broker.withAccessToken(() => { calls += 1; return new Response('why', { status: 401 }); });
    assert.deepEqual([response.status, await response.text(), calls], [401, 'why', 2]);
    const reported = fake.requests('reportRejected').map(({ params }) => [params.status, params.challenge]);
    assert.deepEqual(reported, [[403, 'Bearer'], [401, undefined]]);
  });

  test('what a server wants is reported, and a 403 only where it wants scopes', async () => {
    fake = await FakeBroker.listen(file, ({ id }) => line({ id, result: tokenOf(1) }));
    const wish = 'Bearer error="insufficient_scope", scope="a"';
    for (const challenge of ['Bearer realm="a"', wish, wish + 'x'.repeat(8192)]) {
      await broker.withAccessToken(() => new Response('', { status: 403, headers: { 'WWW-Authenticate': challenge } }));
    }
    const reported = fake.requests('reportRejected').map(({ params }) => [params.status, params.challenge]);
    assert.deepEqual(reported, [[403, wish], [403, undefined]]);
  });

  test('nothing is asked for where no login is needed', async () => {
    const error = { code: 1050, message: 'm', data: { kind: 'unsupportedByProvider' } };
    const result = { profile: 'default', provider: 'oidc', state: 'signedOut', login: [] };
    fake = await FakeBroker.listen(file, ({ id, method }) => line(method === 'login' ? { id, error } : { id, result }));
    await assert.rejects(broker.login({ prompts: {} }), { kind: 'unsupportedByProvider' });
  });

  test('an error says what a login must ask for', async () => {
    const data = { kind: 'reauthRequired', scopes: ['a'], acrValues: ['b'], maxAge: 5 };
    fake = await FakeBroker.listen(file, ({ id }) => line({ id, error: { code: 1005, message: 'm', data } }));
    const { scopes, acrValues, maxAge } = await broker.accessToken().catch((error) => error);
    assert.deepEqual([scopes, acrValues, maxAge], [['a'], ['b'], 5]);
  });

  test('answers overtake each other', async () => {
    const held = [];
    fake = await FakeBroker.listen(file, ({ id, params }) => {
      held.unshift(line({ id, result: params.n }));
      return held.length === 100 ? held.join('') : undefined;
    });
    const numbers = Array.from({ length: 100 }, (_, n) => n);
    assert.deepEqual(await Promise.all(numbers.map((n) => broker.call('echo', { n }))), numbers);
    assert.equal(fake.connections, 1);
  });

  test('events without a subscription are not kept, and do not outlast a time limit', async () => {
    const socket = `${sandbox.root}/flood.sock`;
    const program = path.join(path.dirname(fileURLToPath(import.meta.url)), '../fake-broker');
    const flood = spawn(program, [socket, `${sandbox.root}/log`, 'flooding'], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(flood.stdout, 'data');
    const before = process.memoryUsage().rss;
    const one = new Broker({ socket });
    await assert.rejects(one.call('getAccessToken', {}, { timeoutSeconds: 1.5 }), TimedOut);
    await assert.rejects(one.events({ timeoutSeconds: 1.5 }), TimedOut);
    assert.ok(process.memoryUsage().rss - before < 256 << 20, `${process.memoryUsage().rss - before}`);
    one.close();
    flood.stdin.end();
    await once(flood, 'exit');
  });

  test('there is one error for a time limit, the package\'s and the broker\'s', async () => {
    const error = { code: 1087, message: 'm', data: { kind: 'deadlineExceeded', nextAction: 'retry', retryable: true, correlationId: 'x' } };
    fake = await FakeBroker.listen(file, ({ id, method }) => (method === 'getAccessToken' ? line({ id, error }) : undefined));
    for (const call of [() => broker.accessToken(), () => broker.call('slow', {}, { timeoutSeconds: 0.01 })]) {
      const reason = await call().then(() => undefined, (refusal) => refusal);
      assert.ok(reason instanceof TimedOut && reason instanceof BrokerRefusal, `${reason}`);
      assert.deepEqual([reason.kind, reason.code, reason.nextAction, reason.retryable], ['deadlineExceeded', 1087, 'retry', true]);
    }
  });

  test('who leaves cancels', async () => {
    fake = await FakeBroker.listen(file, ({ id, method }) => (method === 'ping' ? line({ id, result: 7 }) : undefined));
    await assert.rejects(broker.call('slow', {}, { timeoutSeconds: 0.01 }), TimedOut);
    const abort = new AbortController();
    const waiting = broker.call('slow', {}, { signal: abort.signal });
    await until(() => fake.requests('slow').length === 2, 'the request');
    abort.abort();
    await assert.rejects(waiting, { name: 'AbortError' });
    assert.equal(await broker.call('ping'), 7);
    assert.deepEqual(fake.requests('$/cancelRequest').map(({ params }) => params.id), fake.requests('slow').map(({ id }) => id));
  });

  test('events that come with the answer are not lost; what was dropped is told', async () => {
    const event = { subscriptionId: 's1', event: 'eventsLost', time: '2030-01-01T00:00:00Z', data: { from: 2, to: 5 }, sequence: 5 };
    fake = await FakeBroker.listen(file, ({ id }) => line({ id, result: { subscriptionId: 's1', sequence: 1, sessions: [] } })
      + line({ method: 'event', params: event }) + line({ method: 'event', params: { ...event, event: 'other', sequence: 6 } })
      + line({ method: 'event', params: { ...event, event: 'login', sequence: 7 } }));
    const events = await broker.events({ events: ['login'] });
    const told = [];
    for await (const one of events) if (told.push(one) === 2) break;
    assert.deepEqual(told.map((one) => one.event), ['eventsLost', 'login']);
    assert.deepEqual(fake.requests('subscribe')[0].params, { events: ['login', 'shuttingDown'] });
  });

  test('a login elsewhere is shown and waited for; one that is left is cancelled', async () => {
    const action = { loginFlowId: 'f1', profile: 'p', kind: 'deviceCode', verificationUri: 'https://sso.example.com/device', userCode: 'ABCD', expiresAt: '2030-01-01T00:00:00Z' };
    const session = { profile: 'p', provider: 'oidc', state: 'authenticated', scopes: [], refreshTokenPresent: true };
    const waits = [{ error: { code: 1087, message: 'm', data: { kind: 'deadlineExceeded' } } }, '', { result: { status: 'authenticated', session } }];
    const results = { getSession: { ...session, login: [{ method: 'deviceCode', fields: [] }] }, login: { status: 'userActionRequired', action }, cancelLogin: {} };
    fake = await FakeBroker.listen(file, ({ id, method }) => {
      if (results[method]) return line({ id, result: results[method] });
      const said = waits.shift();
      return said ? line({ id, ...said }) : said;
    });
    const shown = [];
    const prompts = { showAction: ({ userCode }) => { shown.push(userCode); } };
    assert.equal((await broker.login({ prompts })).session.provider, 'oidc');
    assert.deepEqual([shown, fake.requests('awaitLogin').length], [['ABCD'], 3]);
    const abort = new AbortController();
    const left = broker.login({ prompts, signal: abort.signal });
    await until(() => fake.requests('awaitLogin').length === 4, 'the request');
    abort.abort();
    await assert.rejects(left, { name: 'AbortError' });
    assert.deepEqual(fake.requests('cancelLogin').map(({ params }) => params), [{ loginFlowId: 'f1' }]);
  });
});

describe('sockets', { timeout: PATIENCE }, () => {
  /** Nothing is sent to a socket that is not trusted. */
  async function distrusted(pattern, socket = file) {
    await assert.rejects(new Broker({ socket }).session(), (error) => error instanceof NoBroker && pattern.test(error.message));
    assert.deepEqual([fake.received, fake.connections], [[], 0]);
  }

  test('nothing is sent where another user could listen', async () => {
    fake = await FakeBroker.listen(file, () => '');
    const folder = `${sandbox.root}/fake`;
    for (const [user, pattern] of [[`${process.geteuid() + 1}`, /belongs to user/], ['no one', /AUTHBROKER_SERVER_UID/]]) {
      process.env.AUTHBROKER_SERVER_UID = user;
      try { await distrusted(pattern); } finally { delete process.env.AUTHBROKER_SERVER_UID; }
    }
    fs.chmodSync(folder, 0o777);
    await distrusted(/can be changed by other users/);
    fs.chmodSync(folder, 0o700);
    fs.chmodSync(file, 0o666);
    await distrusted(/open to every user/);
    fs.chmodSync(file, 0o600);
    fs.mkdirSync(`${sandbox.root}/open`);
    fs.chmodSync(`${sandbox.root}/open`, 0o777);
    fs.symlinkSync(folder, `${sandbox.root}/open/way`);
    await distrusted(/can be changed by other users/, `${sandbox.root}/open/way/broker.sock`);
    fs.symlinkSync(folder, `${sandbox.root}/way`);
    await assert.rejects(new Broker({ socket: `${sandbox.root}/way/broker.sock` }).session(), ConnectionLost);
    // A request that changes nothing, and its repetition.
    assert.equal(fake.received.length, 2);
    if (process.getuid() !== 0) return;
    // As root: a socket, and a link to it, that really are another user's.
    fs.lchownSync(`${sandbox.root}/way`, 65534, 65534);
    await assert.rejects(new Broker({ socket: `${sandbox.root}/way/broker.sock` }).session(), { name: 'NoBroker', message: /nothing was sent/ });
    fs.chownSync(file, 65534, 65534);
    await assert.rejects(new Broker({ socket: file }).session(), { name: 'NoBroker', message: /user 65534/ });
    assert.equal(fake.received.length, 2);
  });

  test('a proof that no broker asks for is not given', async () => {
    const open = `${sandbox.root}/open`;
    fs.mkdirSync(open);
    fs.chmodSync(open, 0o755);
    fs.mkdirSync(sandbox.state, { mode: 0o700 });
    const name = `proof-${'0'.repeat(32)}`;
    for (const path of [`${sandbox.state}/evil`, `${sandbox.state}/${name}`, `${open}/${name}`, name, `${sandbox.state}/../${name}`]) {
      await refusal(line({ id: 'ID', error: { code: 1081, message: 'm', data: { kind: 'accessDenied', proof: { path } } } }));
    }
    assert.deepEqual([fs.readdirSync(sandbox.state), fs.readdirSync(open)], [[], []]);
  });

  test('a state directory that is open to others is refused', async () => {
    fs.mkdirSync(sandbox.state);
    fs.chmodSync(sandbox.state, 0o755);
    await assert.rejects(new Broker().session(), { name: 'NoBroker', message: /chmod 700/ });
    fs.chmodSync(sandbox.state, 0o700);
  });
});
