// The Node package with a real broker: logins, at a terminal and without one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Broker, NoTerminal, TerminalPrompts } from 'authbroker';

import { EMAIL, PASSWORD, PATIENCE, Sandbox, register, until } from './support.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const OTP = { local: { otp: { resendCooldownSeconds: 0, lifetimeSeconds: 3600 } } };
/** The folder that the package is installed in: what a program's imports are looked up from. */
const HERE_PACKAGE = process.env.AUTHBROKER_TEST_FOLDER;
let sandbox, broker;

/** A sandbox for each test, and a client in it. */
function withSandbox(config) {
  beforeEach(() => { sandbox = new Sandbox(config); broker = new Broker(); });
  afterEach(() => { broker.close(); sandbox.dispose(); });
}

describe('logins', { timeout: PATIENCE }, () => {
  withSandbox(OTP);
  let backupCodes;
  beforeEach(async () => {
    const { challenge } = await register(broker, { phoneNumber: '+15550100042' });
    await broker.verifyOtp(challenge.otpFlowId, await sandbox.newest());
    ({ backupCodes } = await broker.call('generateBackupCodes', { password: PASSWORD }));
    await broker.logout();
  });

  /** Runs a login in a pseudo-terminal of Python's and types what is to be typed. */
  async function atTerminal(dialogue) {
    const program = "import { Broker, TerminalPrompts } from 'authbroker'; const b = new Broker(); "
      + 'const { status } = await b.login({ prompts: new TerminalPrompts() }); console.log("RESULT", status);';
    const child = spawn('python3', [`${HERE}/terminal.py`, process.execPath, '--input-type=module', '-e', program], { cwd: HERE_PACKAGE, stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => { child.on('close', resolve); });
    let shown = '', unseen = '';
    child.stdout.on('data', (data) => { shown += data; unseen += data; });
    for (const [text, answer] of dialogue) {
      await until(() => unseen.includes(text), `${text}: ${shown}`);
      unseen = unseen.slice(unseen.indexOf(text) + text.length);
      const typed = typeof answer === 'function' ? await answer() : answer;
      if (typed !== undefined) child.stdin.write(`${typed}\r`);
    }
    return { code: await ended, shown };
  }

  test('a person logs in at a terminal', async () => {
    let first, wrong, second;
    const { code, shown } = await atTerminal([
      ['Your e-mail address: ', `x\x7f${EMAIL}`], ['Password: ', PASSWORD],
      ['another): ', async () => { first = await sandbox.newest(); wrong = first.replace(/\d/g, (d) => (Number(d) + 1) % 10); return wrong; }],
      ['attempts left.', undefined], ['another): ', 'r'],
      ['another): ', async () => { second = await sandbox.newest(first); return second; }], ['RESULT authenticated', undefined]]);
    assert.equal(code, 0);
    for (const secret of [PASSWORD, wrong, second]) assert.ok(!shown.includes(secret));
    assert.ok(shown.includes(EMAIL));
  });

  test('a backup code at a terminal; Ctrl-C cancels the login', async () => {
    const begin = [['address: ', EMAIL], ['Password: ', PASSWORD]];
    const { code, shown } = await atTerminal([...begin, ['another): ', backupCodes[0]], ['RESULT authenticated', undefined]]);
    assert.equal(code, 0);
    assert.ok(!shown.includes(backupCodes[0]));
    const left = await atTerminal([...begin, ['another): ', '\x03'], ['interrupted', undefined]]);
    assert.equal(left.code, 1);
    assert.deepEqual((await broker.call('listPendingLogins')).logins, []);
  });

  test('a program answers', async () => {
    const asked = [];
    const prompts = {
      account: (field) => { asked.push(field); return EMAIL; },
      password: () => PASSWORD,
      code: async ({ method }) => {
        asked.push(method);
        return asked.length === 2 ? { resend: true } : asked.length === 3 ? { code: 'not it' } : { backupCode: backupCodes[1] };
      },
      showRefusal: (error) => { asked.push(error.kind); },
      showAction: () => { throw new Error('not here'); },
    };
    const result = await broker.login({ prompts });
    assert.deepEqual([result.session.state, result.backupCodesRemaining], ['authenticated', 9]);
    assert.deepEqual(asked, ['email', 'sms', 'sms', 'otpInvalid', 'sms']);
  });

  test('the examples of the README', async () => {
    const blocks = [...fs.readFileSync(`${HERE}/../../../../clients/node/README.md`, 'utf8').matchAll(/```js\n(.*?)```/gs)].map((found) => found[1]);
    assert.equal(blocks.length, 4);
    let refused;
    const server = http.createServer((request, response) => {
      refused ??= request.headers.authorization;
      response.writeHead(request.headers.authorization === refused ? 401 : 200);
      response.end('the body');
    });
    await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    const names = { url: `http://127.0.0.1:${server.address().port}/`, askPassword: () => PASSWORD, askCode: () => sandbox.newest() };
    globalThis.readme = names;
    const run = (block, given) => {
      const file = `${HERE_PACKAGE}/readme-${blocks.indexOf(block)}.mjs`;
      fs.writeFileSync(file, `const { ${Object.keys(names)} } = globalThis.readme;\n${block}\nexport { ${given} };\n`);
      return import(file);
    };
    try {
      await run(blocks[2], 'broker');
      assert.equal((await broker.session()).state, 'authenticated');
      const { token, headers } = await run(blocks[0], 'token, headers');
      assert.equal(headers.Authorization, `Bearer ${token.value}`);
      const { response } = await run(blocks[1], 'response');
      assert.deepEqual([response.status, await response.text()], [200, 'the body']);
      const watched = run(blocks[3], 'last');
      await until(async () => (await broker.call('getStatus')).subscriptions === 1, 'a subscriber');
      await broker.logout();
      assert.ok((await watched).last > 0);
    } finally {
      server.closeAllConnections?.();
      await new Promise((resolve) => { server.close(resolve); });
    }
  });
});

test('without a terminal nothing is asked', { timeout: PATIENCE }, async () => {
  const program = "import { TerminalPrompts } from 'authbroker'; await new TerminalPrompts().password().catch((e) => { console.log(e.kind); });";
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: HERE_PACKAGE, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (data) => { text += data; });
  assert.equal(await new Promise((resolve) => { child.on('close', resolve); }), 0);
  assert.equal(text, 'noTerminal\n');
  assert.ok(new NoTerminal().message.includes('terminal') && TerminalPrompts);
});
