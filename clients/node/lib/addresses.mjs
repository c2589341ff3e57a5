/** The token of an address: whether a target covers it, and which requests are made. */
import { BrokerError, BrokerRefusal } from './errors.mjs';
import { AccessToken, member } from './values.mjs';

/** Refusals that are about the address itself, or about the broker as a whole. */
const FINAL = new Set(['unknownTarget', 'invalidParams', 'deadlineExceeded', 'vaultLocked', 'shuttingDown', 'cancelled']);

/** Scheme, user name, host with its port, and path of an address, without a slash at its end. */
function parts(address) {
  const [, scheme, authority, path] = /^([^:]*):\/\/([^/?#]*)([^?#]*)/.exec(address) ?? ['', '', '', ''];
  const at = authority.lastIndexOf('@');
  return { scheme: scheme.toLowerCase(), user: authority.slice(0, Math.max(at, 0)).split(':')[0],
    host: authority.slice(at + 1).toLowerCase(), path: path.replace(/\/+$/, '') };
}

/** Whether an address lies at or below a prefix, as both are written: what is written otherwise does not. */
export function covers(prefix, address) {
  const [known, asked] = [parts(prefix), parts(address)];
  const isBelow = known.host.startsWith('*.') && asked.host.endsWith(known.host.slice(1))
    && asked.host.length >= known.host.length;
  return known.scheme !== '' && known.scheme === asked.scheme && (known.user === '' || known.user === asked.user)
    && (known.host === asked.host || isBelow) && `${asked.path}/`.startsWith(`${known.path}/`);
}

/**
 * Asks for the token of an address. A broker of version 0.2 ignores the address, and answers for the profile that is
 * not named: an answer is used only where it has a target that covers the address. Otherwise the target is asked for,
 * and then its token.
 */
export async function tokenOfAddress(call, url, params) {
  try {
    const token = new AccessToken(await call('getAccessToken', { ...params, url }));
    if (token.target !== undefined && covers(token.target.prefix, url)) return token;
  } catch (error) {
    if (!(error instanceof BrokerError) || FINAL.has(error.kind)) throw error;
  }
  const [entry] = member(await call('listTargets', { url }), 'targets', 'list');
  if (entry === undefined) {
    throw new BrokerRefusal(1088, 'The configuration has no target for this address.',
      { kind: 'unknownTarget', nextAction: 'fixConfig', retryable: false });
  }
  const { url: prefix, profile, username, scopes, audience, scheme } = entry;
  const wanted = { ...params, profile, scopes: params.scopes ?? scopes, audience: params.audience ?? audience };
  return new AccessToken(await call('getAccessToken', wanted), { prefix, username, scheme });
}
