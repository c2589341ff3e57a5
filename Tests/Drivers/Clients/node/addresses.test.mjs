// The token of an address, by the cases that all packages share (Schemas/addresses.json).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { Broker, Unauthorized } from 'authbroker';

import { FakeBroker, PATIENCE, Sandbox, line } from './support.mjs';

const CASES = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../../Schemas/addresses.json');
const { coverage, questions } = JSON.parse(fs.readFileSync(CASES, 'utf8'));
let sandbox, file;

beforeEach(() => {
  sandbox = new Sandbox();
  file = `${sandbox.root}/fake/broker.sock`;
});
afterEach(() => { sandbox.dispose(); });

describe('the token of an address', { timeout: PATIENCE }, () => {
  test('which prefix covers an address', async () => {
    const lib = path.join(process.cwd(), 'node_modules/authbroker/lib/addresses.mjs');
    const { covers } = await import(pathToFileURL(lib).href);
    for (const { prefix, address, covers: expected } of coverage) assert.equal(covers(prefix, address), expected, `${prefix} ${address}`);
  });

  for (const { name, url, exchanges, error, token, profile, target, header = 'Authorization', authorization } of questions) {
    test(name, async () => {
      const left = [...exchanges];
      const wrong = [];
      const fake = await FakeBroker.listen(file, ({ id, method, params }) => {
        const { method: expected, params: wanted, ...outcome } = left.shift() ?? {};
        if (method === expected && JSON.stringify(params, Object.keys(params).sort()) === JSON.stringify(wanted, Object.keys(wanted).sort())) {
          return line({ id, ...outcome });
        }
        wrong.push({ method, params });
        return '';
      });
      const broker = new Broker({ socket: file });
      try {
        const got = await broker.accessToken({ url }).then((value) => ({ value }), (reason) => ({ reason }));
        assert.deepEqual([wrong, left], [[], []]);
        if (error !== undefined) { assert.equal(got.reason?.kind, error); return; }
        assert.ifError(got.reason);
        assert.deepEqual([got.value.value, got.value.profile, got.value.target], [token, profile, target]);
        assert.equal(got.value.authorizationHeader, authorization);
        assert.deepEqual(got.value.headers, { [header]: authorization });
      } finally {
        broker.close();
        await fake.close();
      }
    });
  }

  test('a refused one is reported by its name', async () => {
    const [, { url, exchanges: [{ result: { target, ...result } }] }] = questions;
    const fake = await FakeBroker.listen(file, ({ id, method }) => {
      const name = method === 'getAccessToken' ? 'one' : 'two';
      return line({ id, result: { ...result, ...(name === 'one' && { target }), accessToken: name, tokenId: name } });
    });
    const broker = new Broker({ socket: file });
    const used = await broker.withAccessToken((token) => (token.tokenId === 'one' ? new Unauthorized() : token.authorizationHeader), { url });
    assert.equal(used, 'Basic cm9ib3Q6dHdv');
    const [{ params }] = fake.requests('reportRejected');
    assert.deepEqual(params, { profile: 'work', tokenId: 'one', status: 401 });
    broker.close();
    await fake.close();
  });

  test('profile and address exclude each other', async () => {
    const broker = new Broker({ socket: file });
    await assert.rejects(broker.accessToken({ url: 'https://a.example', profile: 'work' }), TypeError);
    broker.close();
  });
});

test('the types of a session are whole', () => {
  const root = path.resolve(path.dirname(CASES), '..');
  const { schemas } = JSON.parse(fs.readFileSync(`${root}/Schemas/openrpc.json`, 'utf8')).components;
  const types = fs.readFileSync(`${root}/clients/node/authbroker.d.ts`, 'utf8');
  for (const name of ['Session', 'User']) {
    const body = new RegExp(`interface ${name} \\{([^}]*)\\}`).exec(types)[1];
    const missing = Object.keys(schemas[name].properties).filter((member) => !new RegExp(`\\b${member}\\??:`).test(body));
    assert.deepEqual(missing, [], name);
  }
});
