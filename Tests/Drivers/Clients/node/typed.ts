// What TypeScript must make of the package's interface: checked by `tsc --strict`, run by nothing.
import { AccessToken, AuthenticationRequired, Broker, BrokerError, BrokerEvent, LoginResult, Session, TerminalPrompts, Unauthorized } from 'authbroker';

export async function uses(broker: Broker): Promise<string | undefined> {
  const token: AccessToken = await broker.accessToken({ profile: 'work', minValiditySeconds: 60, signal: new AbortController().signal });
  const scheme: 'Bearer' | 'Basic' | undefined = (await broker.accessToken({ url: 'https://a.example' })).target?.scheme;
  const expiry: Date | null = token.expiresAt;
  const body: number = await broker.withAccessToken(async (given) => (given.offline ? new Unauthorized() : given.scopes.length));
  const result: LoginResult = await broker.login({ prompts: new TerminalPrompts() });
  const session: Session | undefined = result.status === 'authenticated' ? result.session : undefined;
  const logouts: ('yes' | 'no' | 'pending' | 'unsupported')[] = (await broker.logout({ all: true })).map((one) => one.serverRevoked);
  try { await broker.verifyOtp('flow', '123456'); } catch (error) {
    if (error instanceof AuthenticationRequired && error.maxAge === 0) return error.acrValues?.join() ?? error.scopes?.join();
    if (error instanceof AuthenticationRequired && error.nextAction === 'login') return error.kind;
    await broker.reportRejected(token, { status: 403, challenge: new Unauthorized(403, 'Bearer').challenge });
    if (error instanceof BrokerError) return error.challenge?.maskedDestination;
  }
  for await (const event of await broker.events({ events: ['login'], since: 3 })) {
    const told: BrokerEvent = event;
    await (await broker.events()).next({ timeoutSeconds: 3, signal: new AbortController().signal });
    return `${told.sequence} ${expiry} ${body} ${session?.state} ${logouts} ${scheme}`;
  }
  // @ts-expect-error: a token is made by the broker alone
  new AccessToken();
  // @ts-expect-error: there is no such member
  token.accessToken;
  // @ts-expect-error: a number of seconds
  await broker.session({ timeoutSeconds: '3' });
  // @ts-expect-error: prompts have an answer for everything
  await broker.login({ prompts: { password: () => '' } });
  return undefined;
}
