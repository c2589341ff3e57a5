/**
 * Fresh access tokens from the AuthBroker daemon, which is started where it does not run.
 *
 * Every promise is rejected with an {@link AuthBrokerError}, or with the reason of the `signal`.
 */

/** What every call takes. */
export interface CallOptions {
  /**
   * How long to wait for the answer, in seconds; then the request is cancelled and {@link TimedOut} is the reason. Without
   * it a minute, more for methods that may take longer; `Infinity` is no limit.
   */
  timeoutSeconds?: number;
  /** Cancels the request. */
  signal?: AbortSignal;
}

/** Which broker to talk to; what is not given comes from the environment, as for the command `authbroker`. */
export interface BrokerOptions {
  /** The state directory. */
  state?: string;
  /** The configuration file; a running broker that uses another one is refused. */
  config?: string;
  /** The socket itself: nothing else is looked for, and nothing started. */
  socket?: string;
  /** Whether a broker is started where there is none; true where absent. */
  start?: boolean;
}

/** What to do about an error. */
export type NextAction = 'login' | 'verifyOtp' | 'retry' | 'wait' | 'unlock' | 'reauthenticate' | 'fixRequest'
  | 'fixConfig' | 'contactProvider' | 'askOwner' | 'useRequests' | 'none';

/** Anything that keeps a call from its result; its message is one sentence without secrets. */
export class AuthBrokerError extends Error {
  /** The stable name of the reason. */
  readonly kind: string;
  readonly nextAction: NextAction;
  /** Whether the same call may succeed later without anything else being done. */
  readonly retryable: boolean;
}
/** There is no broker to talk to, or none that is trusted; the message says why. */
export class NoBroker extends AuthBrokerError {}
/** The connection ended before the answer came; whether the call had an effect is not known. */
export class ConnectionLost extends AuthBrokerError {
  /** False if the broker has certainly not read the request. */
  readonly sent: boolean;
}
/** The client was closed by its own program. */
export class Closed extends AuthBrokerError {}
/** The other end does not speak this protocol; the message never quotes it. */
export class UnexpectedAnswer extends AuthBrokerError {}
/** A login needs an answer, and there is no terminal to ask at. */
export class NoTerminal extends AuthBrokerError {}
/** An API refused a token: thrown or returned by the function that is given to `withAccessToken`. */
export class Unauthorized extends AuthBrokerError {
  /** The HTTP status, 401 where absent, or 403; and the header `WWW-Authenticate`, which may want more scopes. */
  constructor(status?: number, challenge?: string);
  readonly status: number;
  /** The header `WWW-Authenticate`; several are joined by commas. */
  readonly challenge?: string;
}
/** The broker answered with an error, which says what to do next. */
export class BrokerError extends AuthBrokerError {
  /** The number of the error; `kind` is its name. */
  readonly code: number;
  /** Every member that came with it. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds?: number;
  readonly attemptsRemaining?: number;
  readonly profile?: string;
  /** Which member of the params is wrong (RFC 6901). */
  readonly pointer?: string;
  readonly correlationId?: string;
  /** What the next login asks for, as a server's challenge wants it (`reauthRequired`); the broker adds it itself. */
  readonly scopes?: readonly string[];
  /** The authentication context classes of that login. */
  readonly acrValues?: readonly string[];
  /** How many seconds ago that login may have been. */
  readonly maxAge?: number;
  /** The challenge that `challengePending` carries. */
  readonly challenge: OtpChallenge | undefined;
}
/** The request is wrong, or the broker has a fault (-32700 to -32600). */
export class RequestError extends BrokerError {}
/** The request was cancelled (-32800). */
export class Cancelled extends BrokerError {}
/** A person must log in or answer first (1001 to 1019). */
export class AuthenticationRequired extends BrokerError {}
/** A credential or a code was refused (1020 to 1039). */
export class CredentialError extends BrokerError {}
/** The provider or the network is in the way (1040 to 1059). */
export class ProviderError extends BrokerError {}
/** The vault is locked or damaged (1060 to 1079). */
export class VaultError extends BrokerError {}
/** The broker does not do this (1080 to 1099). */
export class BrokerRefusal extends BrokerError {}
/** The time limit of a call is over (`deadlineExceeded`), whether the broker says so or this package. */
export class TimedOut extends BrokerRefusal {
  /** Whether the broker has said so. */
  readonly answered: boolean;
}

/** The entry of the configuration's `targets` that an address belongs to. */
export interface Target {
  /** The prefix of the addresses that the token is for, as configured. */
  readonly prefix: string;
  /** The user name that goes with the token; where absent, the program's own. */
  readonly username?: string;
  /** How the token is sent over HTTP; where absent, as the program does it best. */
  readonly scheme?: 'Bearer' | 'Basic';
}

/** An access token. No text, log line or JSON shows it. Keep none: the broker answers from memory. */
export class AccessToken {
  private constructor();
  /** The token itself: for a request, never for a log. */
  get value(): string;
  /** The header that carries the token, ready for a request: `fetch(url, { headers: token.headers })`. */
  get headers(): Record<string, string>;
  /** The name of that header: `Authorization`, unless the profile's provider is static and names another. */
  get headerName(): string;
  /** The value of that header, as the target wants it. */
  get authorizationHeader(): string;
  readonly tokenType: string;
  /** Null where the provider gives no lifetime. */
  readonly expiresAt: Date | null;
  readonly scopes: readonly string[];
  readonly profile: string;
  /** A short hash: equal if and only if the token is equal. Fit for logs. */
  readonly tokenId: string;
  /** True if a refresh was due and failed for a passing reason. */
  readonly offline: boolean;
  /** The target of the address that it was asked for. */
  readonly target?: Target;
  /** Seconds of life that are left by this machine's clock. */
  expiresInSeconds(): number | null;
  equals(other: unknown): boolean;
}

/** An ID token, for servers that ask who the user is; hidden in the same way. */
export class IdToken {
  private constructor();
  get value(): string;
  readonly expiresAt: Date | null;
}

/** A way to log in to a profile, and what it takes. */
export interface LoginForm { method: string; fields: string[] }

/** What a provider knows of a user. */
export interface User {
  id: string;
  email?: string;
  emailVerified?: boolean;
  name?: string;
  phoneNumberMasked?: string;
  /** What a login asks for beside the password, such as `totp`, or `off`. */
  twoFactor?: string;
  claims?: Record<string, unknown>;
}

/** The public state of a profile's session; times are RFC 3339. */
export interface Session {
  profile: string;
  provider: string;
  /** The issuer of the tokens, where the login has found it and the configuration does not name it. */
  issuer?: string;
  /** The client that the tokens were issued to, where the configuration does not name it. */
  clientId?: string;
  state: 'signedOut' | 'challengePending' | 'authenticated' | 'refreshing' | 'offline' | 'expired' | 'locked';
  userId?: string;
  user?: User;
  scopes: string[];
  accessTokenExpiresAt?: string;
  refreshTokenPresent: boolean;
  refreshTokenExpiresAt?: string;
  /** When the user last proved who they are. */
  authTime?: string;
  lastRefreshAt?: string;
  /** When the provider last accepted something of the session. */
  lastValidatedAt?: string;
  /** When the session expires unless a client uses it. */
  idleExpiresAt?: string;
  /** Why a login is needed, where it is. */
  loginRequiredReason?: string;
  /** What has happened, where the reason leaves that open. */
  loginRequiredMessage?: string;
  /** Whether the newest tokens are not yet safely stored. */
  storeDegraded?: boolean;
  /** How far the provider's clock is ahead of this machine's; only where it is more than 60 either way. */
  providerClockSkewSeconds?: number;
  /** Only from `session`: in the order of preference. */
  login?: LoginForm[];
}

/** A one-time code that a login waits for; times are RFC 3339. */
export interface OtpChallenge {
  otpFlowId: string;
  profile: string;
  method: 'sms' | 'email' | 'totp';
  maskedDestination: string;
  otpLength: number;
  expiresAt: string;
  nextResendAt: string;
  attemptsRemaining: number;
  backupCodesAllowed: boolean;
  /** By which resendOtp can send another code; absent where there is no choice. */
  channels?: Array<'sms' | 'email'>;
}

/** Something to be done in a browser or at another device, so that a login goes on. */
export interface UserAction {
  loginFlowId: string;
  profile: string;
  kind: 'deviceCode' | 'browser';
  verificationUri: string;
  verificationUriComplete?: string;
  userCode?: string;
  expiresAt: string;
}

/** What a step of a login came to. */
export type LoginResult =
  | { status: 'authenticated'; session: Session; backupCodesRemaining?: number; clientContext?: string }
  | { status: 'otpRequired'; challenge: OtpChallenge; clientContext?: string }
  | { status: 'userActionRequired'; action: UserAction; clientContext?: string }
  | { status: 'emailVerificationRequired' };

/** What became of one profile's session. */
export interface LogoutResult { profile: string; serverRevoked: 'yes' | 'no' | 'pending' | 'unsupported' }

/** Where the sessions stood when a subscription began. */
export interface Snapshot { subscriptionId: string; sequence: number; sessions: Session[]; resync?: boolean }

/** Something that happened to a session, the vault or the broker. */
export interface BrokerEvent {
  subscriptionId: string;
  /** Only increases; a gap is no loss. */
  sequence: number;
  /** The name, such as `login`; `eventsLost`: some were dropped; `resync`: only `sessions` is known. */
  event: string;
  /** Absent for events of no profile. */
  profile?: string;
  /** RFC 3339; absent with `resync`. */
  time?: string;
  data: Record<string, unknown>;
  /** Only with `resync`. */
  sessions?: Session[];
}

/** The events of a subscription, in order, across restarts of the broker. Leaving a loop over it ends it. */
export class Events implements AsyncIterableIterator<BrokerEvent> {
  private constructor();
  /** Where the sessions stood when the present subscription began. */
  readonly snapshot: Snapshot;
  /** The last sequence that was seen: `since` for a stream that goes on later. */
  readonly lastSequence: number;
  /** Waits for the next event; an event that comes after the limit or the signal is the next caller's. */
  next(options?: CallOptions): Promise<IteratorResult<BrokerEvent, undefined>>;
  return(): Promise<IteratorResult<BrokerEvent, undefined>>;
  close(): void;
  [Symbol.asyncIterator](): this;
}

/** An answer to a challenge. */
export type CodeAnswer = { code: string } | { backupCode: string } | { resend: true };

/** What a login asks; an error that one of these throws ends the login. */
export interface Prompts {
  /** Asks for the account's name. */
  account(field: 'email' | 'phoneNumber'): string | Promise<string>;
  password(): string | Promise<string>;
  /** Asks for the one-time code; called again after a wrong one and after `resend`. */
  code(challenge: OtpChallenge): CodeAnswer | Promise<CodeAnswer>;
  /** Tells what to do in a browser or at another device. */
  showAction(action: UserAction): void | Promise<void>;
  /** Tells that a code was wrong, or that another one cannot be sent yet; the login goes on. */
  showRefusal?(error: BrokerError): void | Promise<void>;
}

/** Asks at the terminal of the process (`/dev/tty`), secrets without echo; `NoTerminal` where there is none. */
export class TerminalPrompts implements Prompts {
  account(field: 'email' | 'phoneNumber'): Promise<string>;
  password(): Promise<string>;
  code(challenge: OtpChallenge): Promise<CodeAnswer>;
  showAction(action: UserAction): void;
  showRefusal(error: BrokerError): void;
}

/** Which token is wanted. */
export interface TokenOptions extends CallOptions {
  /** Where absent that of AUTHBROKER_PROFILE, of `authbroker profile use`, the only configured one, else `default`. */
  profile?: string;
  /**
   * The address of a server, in the place of `profile`: the section `targets` of the configuration says whose token it
   * is; where there is none, the error is `unknownTarget`.
   */
  url?: string;
  /** The least remaining lifetime. */
  minValiditySeconds?: number;
  scopes?: string[];
  audience?: string;
}

/** What a login takes; with `prompts` it asks for what is missing and goes on until there is a session. */
export interface LoginOptions extends CallOptions {
  profile?: string;
  method?: 'password' | 'deviceCode' | 'browser' | 'clientCredentials' | 'refreshToken';
  email?: string;
  password?: string;
  phoneNumber?: string;
  refreshToken?: string;
  scopes?: string[];
  /** Returned in the result and in events; no secret belongs here. */
  clientContext?: string;
  prompts?: Prompts;
}

/**
 * A connection to the broker of this user. It connects at the first call, and again after the broker was started again;
 * a request whose effect is unknown then is not repeated. It does not keep a program alive that waits for nothing.
 */
export class Broker {
  constructor(options?: BrokerOptions);
  /** Ends the connection; calls under way are rejected with {@link Closed}. */
  close(): void;
  /** Calls any method of the interface by its name. */
  call(method: string, params?: Record<string, unknown>, options?: CallOptions): Promise<any>;
  /** A valid access token, refreshed first where necessary. */
  accessToken(options?: TokenOptions & { forceRefresh?: boolean; waitForLogin?: boolean }): Promise<AccessToken>;
  /**
   * Reports that an API refused a token (401 where no status is given); gives the one to use instead. `challenge` is the
   * response's header `WWW-Authenticate`: where it wants more scopes, the token has them; where that takes a login, the
   * error is `reauthRequired`.
   */
  reportRejected(
    token: AccessToken,
    options?: CallOptions & { status?: number; challenge?: string; scopes?: string[]; audience?: string },
  ): Promise<AccessToken>;
  /**
   * Calls a function with a token; if the API refuses it, reports that once and calls it with the new one. The function
   * throws or returns {@link Unauthorized}, or returns a `Response` of `fetch` with status 401, or with 403 and the wish for
   * more scopes. The second refusal is what comes of it, and the first one where the broker has no other token.
   */
  withAccessToken<Result>(
    use: (token: AccessToken) => Promise<Result | Unauthorized> | Result | Unauthorized, options?: TokenOptions,
  ): Promise<Result>;
  /** The session's ID token; the profile must allow it (`allowIdToken`). */
  idToken(options?: CallOptions & { profile?: string }): Promise<IdToken>;
  login(options?: LoginOptions): Promise<LoginResult>;
  verifyOtp(otpFlowId: string, code: string, options?: CallOptions): Promise<LoginResult>;
  verifyBackupCode(otpFlowId: string, code: string, options?: CallOptions): Promise<LoginResult>;
  resendOtp(otpFlowId: string, options?: CallOptions): Promise<OtpChallenge>;
  /** Waits until the user has completed a login in a browser or at another device. */
  awaitLogin(loginFlowId: string, options?: CallOptions): Promise<LoginResult>;
  logout(options?: CallOptions & { profile?: string; everywhere?: boolean; all?: boolean }): Promise<LogoutResult[]>;
  session(options?: CallOptions & { profile?: string }): Promise<Session>;
  sessions(options?: CallOptions): Promise<Session[]>;
  /**
   * Subscribes. Where the broker ends, the iterator connects again and goes on behind the last event; a broker that was
   * killed is started again, one that was stopped is waited for: `patienceSeconds`, for ever where absent. `since` is
   * the last sequence that was seen.
   */
  events(
    options?: CallOptions & { events?: string[]; profiles?: string[]; since?: number; patienceSeconds?: number },
  ): Promise<Events>;
}
