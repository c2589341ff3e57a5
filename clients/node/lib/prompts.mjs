/** Questions at the terminal. */
import fs from 'node:fs';
import { ReadStream } from 'node:tty';
import { NoTerminal, plain } from './errors.mjs';

/** Asks at the terminal of the process (`/dev/tty`), secrets without echo. */
export class TerminalPrompts {
  /** What was typed behind the end of a line. */
  #ahead = '';

  account(field) { return this.#ask(field === 'phoneNumber' ? 'Your phone number: ' : 'Your e-mail address: ', true); }

  password() { return this.#ask('Password: ', false); }

  async code({ method, maskedDestination, otpLength, backupCodesAllowed, expiresAt }) {
    const minutes = Math.max(1, Math.round((Date.parse(expiresAt) - Date.now()) / 60_000));
    const carrier = method === 'sms' ? 'SMS' : 'e-mail';
    const place = `${maskedDestination ? ` to ${plain(maskedDestination)}` : ''} by ${carrier}`;
    const expiry = `it expires in ${minutes} minute${minutes === 1 ? '' : 's'}`;
    tell(method === 'totp' ? `enter the ${otpLength}-digit code of your authenticator`
      : `sent a ${otpLength}-digit code${place}; ${expiry}`);
    const question = backupCodesAllowed ? 'Code or backup code' : 'Code';
    const typed = await this.#ask(question + (method === 'totp' ? ': ' : ' (r sends another): '), false);
    if (/^\s*(r|resend)\s*$/i.test(typed)) return { resend: true };
    // One digit more than a code has is a slip.
    const isBackupCode = /[a-z]/i.test(typed) || typed.replace(/\D/g, '').length >= otpLength + 2;
    return backupCodesAllowed && isBackupCode ? { backupCode: typed } : { code: typed };
  }

  showAction({ kind, verificationUri, userCode }) {
    const place = kind === 'browser' ? 'in a browser on this computer' : 'on any device';
    tell(`${place}, open ${plain(verificationUri)}${userCode ? ` and enter the code ${plain(userCode)}` : ''}`);
  }

  showRefusal({ message, attemptsRemaining: left }) {
    tell(left === undefined ? message : `${message} ${left} attempt${left === 1 ? '' : 's'} left.`);
  }

  /** Asks, again after an empty line. The terminal is in raw mode meanwhile, and as it was afterwards. */
  async #ask(question, echoes) {
    for (;;) {
      const terminal = new ReadStream(openTerminal());
      try {
        terminal.setRawMode(true);
        tell(question, '');
        const line = await this.#line(terminal, echoes);
        if (line !== '') return line;
      } finally {
        terminal.setRawMode(false);
        terminal.destroy();
        tell('');
      }
    }
  }

  async #line(terminal, echoes) {
    let line = '';
    let text = this.#ahead;
    this.#ahead = '';
    const chunks = terminal.setEncoding('utf8')[Symbol.asyncIterator]();
    for (;;) {
      for (const [index, character] of [...text].entries()) {
        if (character === '\r' || character === '\n') {
          this.#ahead = [...text].slice(index + 1).join('');
          return line;
        }
        // Ctrl-C and Ctrl-D, which a terminal in raw mode does not act on; the delete and the backspace key.
        if (character === '\x03') throw new DOMException('the login was interrupted', 'AbortError');
        if (character === '\x04' && line === '') throw new NoTerminal();
        if (character === '\x7f' || character === '\b') {
          if (echoes && line !== '') tell('\b \b', '');
          line = [...line].slice(0, -1).join('');
        } else if (character >= ' ') {
          line += character;
          if (echoes) tell(character, '');
        }
      }
      const { done, value } = await chunks.next();
      if (done) throw new NoTerminal();
      text = value;
    }
  }
}

function openTerminal() {
  try { return fs.openSync('/dev/tty', fs.constants.O_RDWR | fs.constants.O_NOCTTY); } catch { throw new NoTerminal(); }
}

function tell(text, end = '\n') {
  const descriptor = openTerminal();
  try { fs.writeSync(descriptor, text + end); } finally { fs.closeSync(descriptor); }
}
