/** The profile that is meant where a call names none. */
import fs from 'node:fs';
import path from 'node:path';

/** The longest name has 64 characters. */
const LONGEST = 256;

function ofFile() {
  const { XDG_CONFIG_HOME: base, HOME: home } = process.env;
  const isAbsolute = (value) => value !== undefined && path.isAbsolute(value);
  const folder = isAbsolute(base) ? base : isAbsolute(home) ? path.join(home, '.config') : undefined;
  if (!folder) return undefined;
  let file;
  try {
    // A FIFO must not block.
    file = fs.openSync(path.join(folder, 'authbroker/profile'), fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    const bytes = Buffer.alloc(LONGEST);
    return bytes.toString('utf8', 0, fs.readSync(file, bytes)).split(/\r?\n/, 1)[0] || undefined;
  } catch { return undefined; } finally { if (file !== undefined) fs.closeSync(file); }
}

/** The given profile, else that of AUTHBROKER_PROFILE, else that of `authbroker profile use`; undefined: the broker's. */
export const currentProfile = (profile) => profile ?? (process.env.AUTHBROKER_PROFILE || ofFile());
