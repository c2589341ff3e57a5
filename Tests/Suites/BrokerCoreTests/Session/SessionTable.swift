/// What the session machine does, state by state; what is not listed does nothing.
let sessionTable = StateTable(
  """
  signed out
    restored: → access-1 resting, generation 9
    mistrusted: → mistrusted, generation 0
    login accepted: save living 1 announcing login → signed out, generation 1
    token wanted: error 9 loginRequired
    new token wanted: error 9 loginRequired
    token refused: error 9 loginRequired
    target wanted: error 9 loginRequired
    succeeded: discard access-2
    another succeeded: discard access-2
  mistrusted
    login accepted: save living 1800000000001 announcing login
    token wanted: error 9 vaultTampered
    new token wanted: error 9 vaultTampered
    token refused: error 9 vaultTampered
    target wanted: error 9 vaultTampered
    succeeded: discard access-2
    another succeeded: discard access-2
    logout wanted: save signedOut 1800000000001 announcing logout → signed out, generation 0
  signing in
    login accepted: save living 2 announcing login → signed out, generation 2
    saved 1: → access-5 resting, generation 1
    save 1 failed: save signedOut 2 → signed out, generation 2
    token wanted: error 9 loginRequired
    new token wanted: error 9 loginRequired
    token refused: error 9 loginRequired
    target wanted: error 9 loginRequired
    logout wanted: save signedOut 2 announcing logout → signed out, generation 2
  waiting for a login
    restored: → access-1 resting, generation 9
    mistrusted: → mistrusted, generation 0
    login accepted: save living 1 announcing login → signed out, generation 1
    token wanted: error 9 loginRequired
    new token wanted: error 9 loginRequired
    token refused: error 9 loginRequired
    target wanted: error 9 loginRequired
    succeeded: discard access-2
    another succeeded: discard access-2
    login waits ended: error 1 shuttingDown
  ended
    login accepted: save living 8 announcing login → ended refreshRejected, generation 8
    token wanted: error 9 sessionExpired
    new token wanted: error 9 sessionExpired
    token refused: error 9 sessionExpired
    target wanted: error 9 sessionExpired
    succeeded: discard access-2
    another succeeded: discard access-2
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
  wanting the user
    login accepted: save living 8 announcing login → wants the user, generation 8
    token wanted: error 9 reauthRequired
    new token wanted: error 9 reauthRequired
    token refused: error 9 reauthRequired
    target wanted: error 9 reauthRequired
    succeeded: discard access-2
    another succeeded: discard access-2
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
  resting
    login accepted: save living 8 announcing login → access-1 resting, generation 8
    token wanted: token 9
    new token wanted: openIntent 1 of 7 → access-1 preparing 1, generation 7
    token or login wanted: token 9
    token refused: openIntent 1 of 7 → access-1 preparing 1, generation 7
    target wanted: openIntent 1 of 7 → access-1 preparing 1, generation 7
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    user described: save living 8 → access-1 resting, degraded, described, generation 8
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
    rules changed: save living 8 → access-1 resting, generation 8
    login demanded: save living 8 → access-1 resting, generation 8
  resting, unused, when a refresh is due
    login accepted: save living 8 announcing login → access-1 resting, generation 8
    token wanted: token 9
    new token wanted: openIntent 1 of 7 → access-1 preparing 1, generation 7
    token or login wanted: token 9
    token refused: openIntent 1 of 7 → access-1 preparing 1, generation 7
    target wanted: openIntent 1 of 7 → access-1 preparing 1, generation 7
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    user described: save living 8 → access-1 resting, degraded, described, generation 8
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
    rules changed: openIntent 1 of 7 → access-1 preparing 1, generation 7
    clock was set: → access-1 resting, left alone, generation 7
    woken: → access-1 resting, left alone, generation 7
    login demanded: save living 8 → access-1 resting, generation 8
  left alone
    login accepted: save living 8 announcing login → access-1 resting, left alone, generation 8
    token wanted: token 9 → access-1 resting, generation 7
    new token wanted: openIntent 1 of 7 → access-1 preparing 1, generation 7
    token or login wanted: token 9 → access-1 resting, generation 7
    token refused: openIntent 1 of 7 → access-1 preparing 1, generation 7
    target wanted: openIntent 1 of 7 → access-1 preparing 1, generation 7
    used: → access-1 resting, generation 7
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, left alone, generation 8
    user described: save living 8 → access-1 resting, degraded, described, left alone, generation 8
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
    rules changed: openIntent 1 of 7 → access-1 preparing 1, generation 7
    login demanded: save living 8 → access-1 resting, left alone, generation 8
  resting, used, when a refresh is due
    login accepted: save living 8 announcing login → access-1 resting, generation 8
    token wanted: token 9
    new token wanted: openIntent 1 of 7 → access-1 preparing 1, generation 7
    token or login wanted: token 9
    token refused: openIntent 1 of 7 → access-1 preparing 1, generation 7
    target wanted: openIntent 1 of 7 → access-1 preparing 1, generation 7
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    user described: save living 8 → access-1 resting, degraded, described, generation 8
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
    rules changed: discard access-1, save ended idleTimeout 8 announcing sessionExpired → ended idleTimeout, generation 8
    clock was set: openIntent 1 of 7 → access-1 preparing 1, generation 7
    woken: openIntent 1 of 7 → access-1 preparing 1, generation 7
    network returned: openIntent 1 of 7 → access-1 preparing 1, generation 7
    login demanded: save living 8 → access-1 resting, generation 8
  resting, after the access token's end
    login accepted: save living 8 announcing login → access-1 resting, generation 8
    token wanted: openIntent 1 of 7 → access-1 preparing 1, generation 7
    new token wanted: openIntent 1 of 7 → access-1 preparing 1, generation 7
    token or login wanted: openIntent 1 of 7 → access-1 preparing 1, generation 7
    token refused: openIntent 1 of 7 → access-1 preparing 1, generation 7
    target wanted: openIntent 1 of 7 → access-1 preparing 1, generation 7
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    user described: save living 8 → access-1 resting, degraded, described, generation 8
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
    rules changed: openIntent 1 of 7 → access-1 preparing 1, generation 7
    clock was set: → access-1 resting, left alone, generation 7
    woken: → access-1 resting, left alone, generation 7
    login demanded: save living 8 → access-1 resting, generation 8
  resting, after both ends
    login accepted: save living 8 announcing login → access-1 resting, generation 8
    token wanted: openIntent 1 of 7 → access-1 preparing 1, generation 7
    new token wanted: openIntent 1 of 7 → access-1 preparing 1, generation 7
    token or login wanted: openIntent 1 of 7 → access-1 preparing 1, generation 7
    token refused: openIntent 1 of 7 → access-1 preparing 1, generation 7
    target wanted: openIntent 1 of 7 → access-1 preparing 1, generation 7
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    user described: save living 8 → access-1 resting, degraded, described, generation 8
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
    rules changed: openIntent 1 of 7 → access-1 preparing 1, generation 7
    clock was set: → access-1 resting, left alone, generation 7
    woken: → access-1 resting, left alone, generation 7
    login demanded: save living 8 → access-1 resting, generation 8
  resting, after the idle timeout
    login accepted: save living 8 announcing login → access-1 resting, generation 8
    token wanted: discard access-1, save ended idleTimeout 8 announcing sessionExpired, error 9 sessionExpired → ended idleTimeout, generation 8
    new token wanted: discard access-1, save ended idleTimeout 8 announcing sessionExpired, error 9 sessionExpired → ended idleTimeout, generation 8
    token or login wanted: discard access-1, save ended idleTimeout 8 announcing sessionExpired → ended idleTimeout, generation 8
    token refused: discard access-1, save ended idleTimeout 8 announcing sessionExpired, error 9 sessionExpired → ended idleTimeout, generation 8
    target wanted: discard access-1, save ended idleTimeout 8 announcing sessionExpired, error 9 sessionExpired → ended idleTimeout, generation 8
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    user described: save living 8 → access-1 resting, degraded, described, generation 8
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
    rules changed: discard access-1, save ended idleTimeout 8 announcing sessionExpired → ended idleTimeout, generation 8
    clock was set: discard access-1, save ended idleTimeout 8 announcing sessionExpired → ended idleTimeout, generation 8
    woken: discard access-1, save ended idleTimeout 8 announcing sessionExpired → ended idleTimeout, generation 8
    login demanded: save living 8 → access-1 resting, generation 8
  preparing
    login accepted: save living 8 announcing login → access-1 preparing 1, generation 8
    token wanted: token 9
    token or login wanted: token 9
    intent saved: spend 1 refresh-1 → access-1 sent 1, generation 7
    intent failed: error 1 storeFailed, publish refreshFailed → access-1 backing off for storeFailed, generation 7
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    user described: → access-1 preparing 1, described, generation 7
    logout wanted: error 1 loginRequired, save signedOut 8 announcing logout → signed out, generation 8
  sent
    login accepted: save living 8 announcing login → access-1 sent 1, generation 8
    token wanted: token 9
    token or login wanted: token 9
    succeeded: save living 8 announcing tokenRefreshed → access-1 saving access-2, generation 8
    offline: closeIntent, error 1 networkUnavailable, publish refreshFailed → access-1 backing off for networkUnavailable, generation 7
    lost: error 1 refreshOutcomeUnknown, publish refreshFailed → access-1 backing off for refreshOutcomeUnknown, lost, generation 7
    refused: save ended refreshRejected 8 announcing sessionExpired, error 1 sessionExpired → ended refreshRejected, generation 8
    user wanted: save reauthenticationRequired 8 announcing sessionExpired, error 1 reauthRequired → wants the user, generation 8
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    user described: → access-1 sent 1, described, generation 7
    logout wanted: error 1 loginRequired, save signedOut 8 announcing logout → signed out, generation 8
  sent, after the idle timeout
    login accepted: save living 8 announcing login → access-1 sent 1, generation 8
    token wanted: discard access-1, save ended idleTimeout 8 announcing sessionExpired, error 1 sessionExpired, error 9 sessionExpired → ended idleTimeout, generation 8
    new token wanted: discard access-1, save ended idleTimeout 8 announcing sessionExpired, error 1 sessionExpired, error 9 sessionExpired → ended idleTimeout, generation 8
    token or login wanted: discard access-1, save ended idleTimeout 8 announcing sessionExpired, error 1 sessionExpired → ended idleTimeout, generation 8
    token refused: discard access-1, save ended idleTimeout 8 announcing sessionExpired, error 1 sessionExpired, error 9 sessionExpired → ended idleTimeout, generation 8
    target wanted: discard access-1, save ended idleTimeout 8 announcing sessionExpired, error 1 sessionExpired, error 9 sessionExpired → ended idleTimeout, generation 8
    succeeded: save living 8 announcing tokenRefreshed → access-1 saving access-2, generation 8
    offline: closeIntent, error 1 networkUnavailable, publish refreshFailed → access-1 backing off for networkUnavailable, generation 7
    lost: error 1 refreshOutcomeUnknown, publish refreshFailed → access-1 backing off for refreshOutcomeUnknown, lost, generation 7
    refused: save ended refreshRejected 8 announcing sessionExpired, error 1 sessionExpired → ended refreshRejected, generation 8
    user wanted: save reauthenticationRequired 8 announcing sessionExpired, error 1 reauthRequired → wants the user, generation 8
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    user described: → access-1 sent 1, described, generation 7
    logout wanted: error 1 loginRequired, save signedOut 8 announcing logout → signed out, generation 8
    rules changed: discard access-1, save ended idleTimeout 8 announcing sessionExpired, error 1 sessionExpired → ended idleTimeout, generation 8
    clock was set: discard access-1, save ended idleTimeout 8 announcing sessionExpired, error 1 sessionExpired → ended idleTimeout, generation 8
    woken: discard access-1, save ended idleTimeout 8 announcing sessionExpired, error 1 sessionExpired → ended idleTimeout, generation 8
  saving
    login accepted: save living 9 announcing login → access-1 saving access-2, generation 9
    saved 8: token 1 → access-2 resting, generation 8
    save 8 failed: token 1 → access-2 resting, degraded, generation 8
    token wanted: token 9
    token or login wanted: token 9
    tokens replaced: save living 9 announcing tokenRefreshed → access-1 saving access-3, generation 9
    user described: → access-1 saving access-2, described, generation 8
    logout wanted: error 1 loginRequired, save signedOut 9 announcing logout → signed out, generation 9
  degraded
    login accepted: save living 9 announcing login → access-2 resting, degraded, generation 9
    saved 8: → access-2 resting, generation 8
    token wanted: token 9
    new token wanted: saveAgain
    token or login wanted: token 9
    token refused: saveAgain
    target wanted: saveAgain
    tokens replaced: save living 9 announcing tokenRefreshed → access-2 saving access-3, degraded, generation 9
    user described: saveAgain → access-2 resting, degraded, described, generation 8
    logout wanted: save signedOut 9 announcing logout → signed out, generation 9
  being described
    login accepted: save living 9 announcing login → access-1 resting, degraded, described, generation 9
    saved 8: → access-1 resting, generation 8
    saved 99: → access-1 resting, generation 8
    save 8 failed: → access-1 resting, degraded, generation 8
    token wanted: token 9
    new token wanted: saveAgain
    token or login wanted: token 9
    token refused: saveAgain
    target wanted: saveAgain
    tokens replaced: save living 9 announcing tokenRefreshed → access-1 saving access-3, degraded, described, generation 9
    user described: saveAgain
    logout wanted: save signedOut 9 announcing logout → signed out, generation 9
  backing off
    login accepted: save living 8 announcing login → access-1 backing off for networkUnavailable, generation 8
    token wanted: offline token 9
    new token wanted: error 9 networkUnavailable
    token or login wanted: offline token 9
    token refused: error 9 networkUnavailable
    target wanted: error 9 networkUnavailable
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    user described: save living 8 → access-1 backing off for networkUnavailable, degraded, described, generation 8
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
    rules changed: openIntent 2 of 7 → access-1 preparing 2, generation 7
    network returned: openIntent 2 of 7 → access-1 preparing 2, generation 7
    login demanded: save living 8 → access-1 backing off for networkUnavailable, generation 8
  holding back
    login accepted: save living 8 announcing login → access-1 backing off for refreshOutcomeUnknown, lost, generation 8
    token wanted: offline token 9
    new token wanted: error 9 refreshOutcomeUnknown
    token or login wanted: offline token 9
    token refused: spend 2 refresh-1 → access-1 sent 2, lost, generation 7
    target wanted: error 9 refreshOutcomeUnknown
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, lost, generation 8
    user described: save living 8 → access-1 backing off for refreshOutcomeUnknown, degraded, described, lost, generation 8
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
  holding back, after the end
    login accepted: save living 8 announcing login → access-1 backing off for refreshOutcomeUnknown, lost, generation 8
    token wanted: spend 2 refresh-1 → access-1 sent 2, lost, generation 7
    new token wanted: spend 2 refresh-1 → access-1 sent 2, lost, generation 7
    token or login wanted: spend 2 refresh-1 → access-1 sent 2, lost, generation 7
    token refused: spend 2 refresh-1 → access-1 sent 2, lost, generation 7
    target wanted: spend 2 refresh-1 → access-1 sent 2, lost, generation 7
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, lost, generation 8
    user described: save living 8 → access-1 backing off for refreshOutcomeUnknown, degraded, described, lost, generation 8
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
    rules changed: discard access-1, save ended idleTimeout 8 announcing sessionExpired → ended idleTimeout, generation 8
    clock was set: spend 2 refresh-1 → access-1 sent 2, lost, generation 7
    woken: spend 2 refresh-1 → access-1 sent 2, lost, generation 7
    network returned: spend 2 refresh-1 → access-1 sent 2, lost, generation 7
  preparing, signing in
    login accepted: save living 9 announcing login → access-1 preparing 1, generation 9
    saved 8: token 1, revoke access-1 → access-5 resting, generation 8
    token wanted: token 9
    token or login wanted: token 9
    intent saved: closeIntent → access-1 resting, generation 8
    intent failed: → access-1 resting, generation 8
    tokens replaced: → access-1 resting, generation 8
    user described: → access-1 preparing 1, described, generation 8
    logout wanted: error 1 loginRequired, save signedOut 9 announcing logout → signed out, generation 9
  sent, signing in
    login accepted: save living 9 announcing login → access-1 sent 1, generation 9
    saved 8: token 1, revoke access-1 → access-5 resting, generation 8
    token wanted: token 9
    token or login wanted: token 9
    tokens replaced: → access-1 resting, generation 8
    user described: → access-1 sent 1, described, generation 8
    logout wanted: error 1 loginRequired, save signedOut 9 announcing logout → signed out, generation 9
  answered, signing in
    login accepted: save living 9 announcing login → access-1 sent 1, generation 9
    saved 8: token 1, revoke access-2 → access-5 resting, generation 8
    save 8 failed: save living 9 announcing tokenRefreshed → access-1 saving access-2, generation 9
    token wanted: token 9
    token or login wanted: token 9
    tokens replaced: → access-1 resting, generation 8
    user described: → access-1 sent 1, described, generation 8
    logout wanted: error 1 loginRequired, save signedOut 9 announcing logout → signed out, generation 9
  refused, signing in
    login accepted: save living 9 announcing login → access-1 sent 1, generation 9
    saved 8: token 1 → access-5 resting, generation 8
    save 8 failed: save ended refreshRejected 9 announcing sessionExpired, error 1 sessionExpired → ended refreshRejected, generation 9
    token wanted: token 9
    token or login wanted: token 9
    tokens replaced: → access-1 resting, generation 8
    user described: → access-1 sent 1, described, generation 8
    logout wanted: error 1 loginRequired, save signedOut 9 announcing logout → signed out, generation 9
  """)
