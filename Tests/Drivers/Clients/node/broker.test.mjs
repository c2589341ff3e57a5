// The Node package with a real broker: tokens, restarts, events, a locked vault.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { format, inspect } from 'node:util';

import { AccessToken, AuthenticationRequired, Broker, BrokerError, BrokerRefusal, Closed, NoBroker, TimedOut, Unauthorized,
  VaultError } from 'authbroker';

import { EMAIL, PASSWORD, PATIENCE, Sandbox, register, until } from './support.mjs';

/** The folder that the package is installed in: what a program's imports are looked up from. */
const HERE_PACKAGE = process.env.AUTHBROKER_TEST_FOLDER;
let sandbox, broker;

/** A sandbox for each test, and a client in it. */
function withSandbox(config) {
  beforeEach(() => { sandbox = new Sandbox(config); broker = new Broker(); });
  afterEach(() => { broker.close(); sandbox.dispose(); });
}

/** The next event, with a time limit. */
async function next(events) {
  const over = new Promise((_, reject) => { setTimeout(reject, PATIENCE, new Error('no event came')).unref(); });
  const { value, done } = await Promise.race([events.next(), over]);
  assert.equal(done, false);
  return value;
}

describe('tokens', { timeout: PATIENCE }, () => {
  withSandbox();

  test('the current profile is meant where none is named', async () => {
    await register(broker);
    fs.mkdirSync(`${sandbox.root}/chosen/authbroker`, { recursive: true });
    fs.writeFileSync(`${sandbox.root}/chosen/authbroker/profile`, 'of-the-file\n');
    const { XDG_CONFIG_HOME } = process.env;
    try {
      process.env.XDG_CONFIG_HOME = `${sandbox.root}/chosen`;
      for (const [variable, profile] of [['', 'of-the-file'], ['of-the-variable', 'of-the-variable']]) {
        process.env.AUTHBROKER_PROFILE = variable;
        for (const call of ['accessToken', 'idToken', 'session', 'logout', 'login']) {
          await assert.rejects(broker[call](), { kind: 'unknownProfile', profile }, call);
        }
        assert.equal((await broker.accessToken({ profile: 'default' })).profile, 'default');
      }
    } finally {
      delete process.env.AUTHBROKER_PROFILE;
      if (XDG_CONFIG_HOME === undefined) delete process.env.XDG_CONFIG_HOME;
      else process.env.XDG_CONFIG_HOME = XDG_CONFIG_HOME;
    }
  });

  test('no text of a token shows it', async () => {
    await register(broker);
    const token = await broker.accessToken();
    const texts = [String(token), `${token}`, inspect(token), inspect({ token }, { showHidden: true, depth: 9 }), JSON.stringify({ token }),
      format('%s %o %O %j', token, token, token, token), inspect(new Error('x', { cause: token })), inspect(structuredClone({ ...token }))];
    for (const text of texts) assert.ok(!text.includes(token.value), text.slice(0, 40));
    assert.ok(inspect(token).includes(token.tokenId));
    assert.equal(token.authorizationHeader, `Bearer ${token.value}`);
    assert.ok(token.equals(await broker.accessToken()));
    assert.ok(token.expiresInSeconds() > 0 && token.expiresAt instanceof Date);
  });

  test('a refused token is reported once', async () => {
    await register(broker);
    const first = await broker.accessToken();
    const seen = [];
    const raising = (token) => { seen.push(token); if (token.equals(first)) throw new Unauthorized(); return 'body'; };
    assert.equal(await broker.withAccessToken(raising), 'body');
    assert.equal(seen.length, 2);
    assert.notEqual(seen[0].value, seen[1].value);
    assert.equal(await broker.withAccessToken(async (token) => (token.equals(seen[1]) ? new Unauthorized() : 7)), 7);
    await assert.rejects(broker.withAccessToken(() => new Unauthorized()), Unauthorized);
    let calls = 0;
    const response = await broker.withAccessToken(() => { calls += 1; return new Response('no', { status: 401 }); });
    assert.deepEqual([response.status, calls], [401, 2]);
    await assert.rejects(broker.withAccessToken(() => { throw new RangeError('mine'); }), RangeError);
  });

  test('a hundred calls share one connection', async () => {
    await register(broker);
    const { value } = await broker.accessToken();
    const tokens = await Promise.all(Array.from({ length: 100 }, () => broker.accessToken()));
    assert.deepEqual([...new Set(tokens.map((token) => token.value))], [value]);
    const refused = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => broker.session({ profile: `profile-${n}` })));
    assert.ok(refused.every(({ reason }) => reason.kind === 'unknownProfile'));
    assert.equal((await broker.call('getStatus')).connections, 1);
  });

  test('a waiting call is cancelled, and a time limit says what was waited for', async () => {
    const abort = new AbortController();
    const waiting = broker.accessToken({ waitForLogin: true, signal: abort.signal });
    await broker.call('ping');
    abort.abort(new Error('enough'));
    await assert.rejects(waiting, { message: 'enough' });
    await assert.rejects(broker.accessToken({ signal: abort.signal }), { message: 'enough' });
    await assert.rejects(broker.call('getAccessToken', { waitForLogin: true }, { timeoutSeconds: 0.05 }), TimedOut);
    await assert.rejects(broker.accessToken({ waitForLogin: true, timeoutSeconds: 0.05 }), BrokerError);
    assert.equal((await broker.session()).state, 'signedOut');
  });

  test('a locked vault says what to do', async () => {
    await register(broker);
    await Promise.all([broker.call('lock'), broker.call('lock')]);
    await assert.rejects(broker.accessToken(), (error) => error instanceof VaultError && error.kind === 'vaultLocked'
      && error.nextAction === 'unlock' && !error.retryable && error.code === 1060);
    await broker.call('unlock');
    assert.ok(await broker.accessToken() instanceof AccessToken);
    assert.deepEqual(fs.readdirSync(sandbox.state).filter((name) => name.startsWith('proof-')), []);
  });

  test('a relay gets no proof: nothing is created', async () => {
    await register(broker);
    const socket = `${sandbox.root}/relay.sock`;
    const program = path.join(path.dirname(fileURLToPath(import.meta.url)), '../fake-broker');
    const relay = spawn(program, [socket, `${sandbox.root}/log`, 'relay', `${sandbox.state}/run/broker.sock`], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(relay.stdout, 'data');
    const before = fs.readdirSync(sandbox.state);
    const one = new Broker({ socket });
    for (const method of ['getAccessToken', 'lock', 'rekey', 'listLocalUsers', 'logout', 'prove']) {
      const wantsNothing = ['getAccessToken', 'prove'].includes(method);
      await assert.rejects(one.call(method, method === 'logout' ? { all: true } : {}), (error) => error instanceof BrokerRefusal
        && error.kind === 'accessDenied' && (wantsNothing || error.message.includes('nothing was created')));
    }
    assert.deepEqual(fs.readdirSync(sandbox.state), before);
    one.close();
    relay.stdin.end();
    await once(relay, 'exit');
  });

  test('a killed broker is started again; a closed client says so', async () => {
    await register(broker);
    const before = await broker.accessToken();
    await sandbox.kill();
    assert.ok(before.equals(await broker.accessToken()));
    await broker.logout();
    const waiting = assert.rejects(broker.accessToken({ waitForLogin: true }), Closed);
    await broker.call('ping');
    broker.close();
    await waiting;
    await assert.rejects(broker.session(), Closed);
  });

  test('a program that waits for nothing ends', async () => {
    await register(broker);
    const program = "import { Broker } from 'authbroker'; const b = new Broker(); await b.events(); console.log((await b.accessToken()).profile);";
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: HERE_PACKAGE, stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (data) => { text += data; });
    assert.equal(await new Promise((resolve) => { child.on('close', resolve); }), 0);
    assert.equal(text, 'default\n');
  });
});

describe('events', { timeout: PATIENCE }, () => {
  withSandbox();

  test('they go on behind the last one', async () => {
    const events = await broker.events({ events: ['login', 'logout'] });
    await register(broker);
    const first = await next(events);
    assert.deepEqual([first.event, first.profile, events.lastSequence], ['login', 'default', first.sequence]);
    await sandbox.kill();
    await broker.logout();
    const second = await next(events);
    await sandbox.kill();
    await broker.login({ email: EMAIL, password: PASSWORD });
    const third = await next(events);
    assert.deepEqual([second.event, third.event], ['logout', 'login']);
    events.close();
    assert.deepEqual(await events.next(), { done: true, value: undefined });
    const again = await broker.events({ since: first.sequence });
    const told = [];
    for await (const event of again) if (told.push(event.sequence) === 2) break;
    assert.deepEqual(told, [second.sequence, third.sequence]);
    await until(async () => (await broker.call('getStatus')).connections === 1, 'the end of the subscriptions');
  });

  test('what is no longer kept is told', async () => {
    await register(broker);
    const events = await broker.events({ since: 1e9 });
    const event = await next(events);
    assert.deepEqual([event.event, event.sessions[0].state], ['resync', 'authenticated']);
    await broker.logout();
    assert.equal((await next(events)).event, 'logout');
    events.close();
  });

  test('a stopped broker is waited for', async () => {
    await register(broker);
    const events = await broker.events({ events: ['logout'] });
    const impatient = await broker.events({ patienceSeconds: 0.3 });
    sandbox.stop();
    await assert.rejects(async () => { for (;;) await next(impatient); }, NoBroker);
    assert.equal(sandbox.pid(), undefined);
    await broker.logout();
    assert.equal((await next(events)).event, 'logout');
    const waiting = events.next();
    events.close();
    assert.equal((await waiting).done, true);
  });
});

describe('where there is no broker', { timeout: PATIENCE }, () => {
  withSandbox();

  test('nothing is started where that is not wanted', async () => {
    await assert.rejects(new Broker({ start: false }).session(), { name: 'NoBroker', message: /authbroker serve/ });
    await assert.rejects(new Broker({ socket: `${sandbox.root}/none.sock` }).session(), { name: 'NoBroker', message: /none\.sock/ });
    assert.equal(sandbox.pid(), undefined);
  });

  test('a daemon that does not start is named, and says itself why', async () => {
    for (const [program, text] of [['/nonexistent/authbrokerd', /AUTHBROKER_DAEMON/], ['/bin/true', /broker\.log/]]) {
      process.env.AUTHBROKER_DAEMON = program;
      await assert.rejects(new Broker().session(), { name: 'NoBroker', message: text });
    }
    delete process.env.AUTHBROKER_DAEMON;
    fs.writeFileSync(`${sandbox.root}/wrong.json`, '{"profile": {}}');
    await assert.rejects(new Broker({ config: `${sandbox.root}/wrong.json` }).session(), { name: 'NoBroker', message: /profile/ });
  });

  test('thirty clients start one broker, and a session is required', async () => {
    const brokers = Array.from({ length: 30 }, () => new Broker());
    const pids = await Promise.all(brokers.map(async (one) => (await one.call('getStatus')).pid));
    assert.deepEqual(pids, Array(30).fill(sandbox.pid()));
    for (const one of brokers) one.close();
    await assert.rejects(broker.accessToken(), (error) => error instanceof AuthenticationRequired && error.nextAction === 'login');
    fs.writeFileSync(`${sandbox.root}/other.json`, '{}');
    await assert.rejects(new Broker({ config: `${sandbox.root}/other.json` }).session(), { name: 'NoBroker', message: /other\.json/ });
  });
});
