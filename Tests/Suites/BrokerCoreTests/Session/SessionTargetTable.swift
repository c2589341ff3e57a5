/// What the session machine does in the states that tokens for other targets lead to; what is not listed does nothing.
let sessionTargetTable = StateTable(
  """
  preparing for a
    login accepted: save living 8 announcing login → access-1 preparing 1, generation 8
    token wanted: token 9
    token or login wanted: token 9
    intent saved: spend 1 refresh-1 for @a → access-1 sent 1, generation 7
    intent failed: error 1 storeFailed, publish refreshFailed → access-1 backing off for storeFailed, generation 7
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    user described: → access-1 preparing 1, described, generation 7
    logout wanted: error 1 loginRequired, save signedOut 8 announcing logout → signed out, generation 8
    covered target wanted: token 9
  sent for a
    login accepted: save living 8 announcing login → access-1 sent 1, generation 8
    token wanted: token 9
    token or login wanted: token 9
    succeeded: save living 8 → access-1 saving access-1, generation 8
    offline: closeIntent, error 1 networkUnavailable, publish refreshFailed → access-1 backing off for networkUnavailable, generation 7
    lost: error 1 refreshOutcomeUnknown, publish refreshFailed → access-1 backing off for refreshOutcomeUnknown, lost, generation 7
    refused: closeIntent, openIntent 2 of 7 → access-1 preparing 2, generation 7
    user wanted: closeIntent, error 1 reauthRequired → access-1 resting, generation 7
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    user described: → access-1 sent 1, described, generation 7
    logout wanted: error 1 loginRequired, save signedOut 8 announcing logout → signed out, generation 8
    covered target wanted: token 9
    target not granted: closeIntent, error 1 insufficientScope → access-1 resting, generation 7
    consent wanted: closeIntent, error 1 reauthRequired → access-1 resting, generation 7
    misconfigured: closeIntent, error 1 providerRejected → access-1 resting, generation 7
    reused: save ended refreshRejected 8 announcing securityAlert sessionExpired, error 1 sessionExpired → ended refreshRejected, generation 8
  sent for a, b and the session wait
    login accepted: save living 8 announcing login → access-1 sent 1, generation 8
    token wanted: token 9
    token or login wanted: token 9
    succeeded: save living 8 → access-1 saving access-1, generation 8
    offline: closeIntent, error 1 networkUnavailable, error 2 networkUnavailable, error 3 networkUnavailable, publish refreshFailed → access-1 backing off for networkUnavailable, generation 7
    lost: error 1 refreshOutcomeUnknown, error 2 refreshOutcomeUnknown, error 3 refreshOutcomeUnknown, publish refreshFailed → access-1 backing off for refreshOutcomeUnknown, lost, generation 7
    refused: closeIntent, openIntent 2 of 7 → access-1 preparing 2, generation 7
    user wanted: closeIntent, error 1 reauthRequired, openIntent 2 of 7 → access-1 preparing 2, generation 7
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    user described: → access-1 sent 1, described, generation 7
    logout wanted: error 1 loginRequired, error 2 loginRequired, error 3 loginRequired, save signedOut 8 announcing logout → signed out, generation 8
    covered target wanted: token 9
    target not granted: closeIntent, error 1 insufficientScope, openIntent 2 of 7 → access-1 preparing 2, generation 7
    consent wanted: closeIntent, error 1 reauthRequired, openIntent 2 of 7 → access-1 preparing 2, generation 7
    misconfigured: closeIntent, error 1 providerRejected, openIntent 2 of 7 → access-1 preparing 2, generation 7
    reused: save ended refreshRejected 8 announcing securityAlert sessionExpired, error 1 sessionExpired, error 2 sessionExpired, error 3 sessionExpired → ended refreshRejected, generation 8
  saving a's
    login accepted: save living 9 announcing login → access-1 saving access-1, generation 9
    saved 8: access-2 for @a 1 → access-1 resting, generation 8
    save 8 failed: access-2 for @a 1 → access-1 resting, degraded, generation 8
    token wanted: token 9
    token or login wanted: token 9
    tokens replaced: save living 9 announcing tokenRefreshed → access-1 saving access-3, generation 9
    user described: → access-1 saving access-1, described, generation 8
    logout wanted: error 1 loginRequired, save signedOut 9 announcing logout → signed out, generation 9
    covered target wanted: token 9
  saving a's, b waits
    login accepted: save living 9 announcing login → access-1 saving access-1, generation 9
    saved 8: access-2 for @a 1, openIntent 2 of 8 → access-1 preparing 2, generation 8
    save 8 failed: access-2 for @a 1, saveAgain → access-1 resting, degraded, generation 8
    token wanted: token 9
    token or login wanted: token 9
    tokens replaced: save living 9 announcing tokenRefreshed → access-1 saving access-3, generation 9
    user described: → access-1 saving access-1, described, generation 8
    logout wanted: error 1 loginRequired, error 2 loginRequired, save signedOut 9 announcing logout → signed out, generation 9
    covered target wanted: token 9
  with a's token
    login accepted: save living 9 announcing login → access-1 resting, generation 9
    token wanted: token 9
    new token wanted: openIntent 2 of 8 → access-1 preparing 2, generation 8
    token or login wanted: token 9
    token refused: openIntent 2 of 8 → access-1 preparing 2, generation 8
    target wanted: access-2 for @a 9
    tokens replaced: save living 9 announcing tokenRefreshed → access-1 saving access-3, generation 9
    user described: save living 9 → access-1 resting, degraded, described, generation 9
    logout wanted: save signedOut 9 announcing logout → signed out, generation 9
    rules changed: save living 9 → access-1 resting, generation 9
    new target wanted: openIntent 2 of 8 → access-1 preparing 2, generation 8
    target's token refused: openIntent 2 of 8 → access-1 preparing 2, generation 8
    other target wanted: openIntent 2 of 8 → access-1 preparing 2, generation 8
    covered target wanted: token 9
    login demanded: save living 9 → access-1 resting, generation 9
  with a's token, after its end
    login accepted: save living 9 announcing login → access-1 resting, generation 9
    token wanted: openIntent 2 of 8 → access-1 preparing 2, generation 8
    new token wanted: openIntent 2 of 8 → access-1 preparing 2, generation 8
    token or login wanted: openIntent 2 of 8 → access-1 preparing 2, generation 8
    token refused: openIntent 2 of 8 → access-1 preparing 2, generation 8
    target wanted: openIntent 2 of 8 → access-1 preparing 2, generation 8
    tokens replaced: save living 9 announcing tokenRefreshed → access-1 saving access-3, generation 9
    user described: save living 9 → access-1 resting, degraded, described, generation 9
    logout wanted: save signedOut 9 announcing logout → signed out, generation 9
    rules changed: discard access-1, save ended idleTimeout 9 announcing sessionExpired → ended idleTimeout, generation 9
    clock was set: openIntent 2 of 8 → access-1 preparing 2, generation 8
    woken: openIntent 2 of 8 → access-1 preparing 2, generation 8
    new target wanted: openIntent 2 of 8 → access-1 preparing 2, generation 8
    target's token refused: openIntent 2 of 8 → access-1 preparing 2, generation 8
    other target wanted: openIntent 2 of 8 → access-1 preparing 2, generation 8
    covered target wanted: openIntent 2 of 8 → access-1 preparing 2, generation 8
    network returned: openIntent 2 of 8 → access-1 preparing 2, generation 8
    login demanded: save living 9 → access-1 resting, generation 9
  with a's token, degraded
    login accepted: save living 9 announcing login → access-1 resting, degraded, generation 9
    saved 8: → access-1 resting, generation 8
    token wanted: token 9
    new token wanted: saveAgain
    token or login wanted: token 9
    token refused: saveAgain
    target wanted: access-2 for @a 9
    tokens replaced: save living 9 announcing tokenRefreshed → access-1 saving access-3, degraded, generation 9
    user described: saveAgain → access-1 resting, degraded, described, generation 8
    logout wanted: save signedOut 9 announcing logout → signed out, generation 9
    new target wanted: saveAgain
    target's token refused: saveAgain
    other target wanted: saveAgain
    covered target wanted: token 9
  a refused
    login accepted: save living 8 announcing login → access-1 resting, generation 8
    token wanted: token 9
    new token wanted: openIntent 2 of 7 → access-1 preparing 2, generation 7
    token or login wanted: token 9
    token refused: openIntent 2 of 7 → access-1 preparing 2, generation 7
    target wanted: error 9 insufficientScope
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    user described: save living 8 → access-1 resting, degraded, described, generation 8
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
    rules changed: save living 8 → access-1 resting, generation 8
    new target wanted: error 9 insufficientScope
    target's token refused: error 9 insufficientScope
    other target wanted: openIntent 2 of 7 → access-1 preparing 2, generation 7
    covered target wanted: token 9
    login demanded: save living 8 → access-1 resting, generation 8
  a refused, a minute later
    login accepted: save living 8 announcing login → access-1 resting, generation 8
    token wanted: token 9
    new token wanted: openIntent 2 of 7 → access-1 preparing 2, generation 7
    token or login wanted: token 9
    token refused: openIntent 2 of 7 → access-1 preparing 2, generation 7
    target wanted: openIntent 2 of 7 → access-1 preparing 2, generation 7
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    user described: save living 8 → access-1 resting, degraded, described, generation 8
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
    rules changed: save living 8 → access-1 resting, generation 8
    new target wanted: openIntent 2 of 7 → access-1 preparing 2, generation 7
    target's token refused: openIntent 2 of 7 → access-1 preparing 2, generation 7
    other target wanted: openIntent 2 of 7 → access-1 preparing 2, generation 7
    covered target wanted: token 9
    login demanded: save living 8 → access-1 resting, generation 8
  a doubted
    login accepted: save living 8 announcing login → access-1 sent 2, generation 8
    token wanted: token 9
    token or login wanted: token 9
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    user described: → access-1 sent 2, described, generation 7
    logout wanted: error 1 loginRequired, save signedOut 8 announcing logout → signed out, generation 8
    covered target wanted: token 9
    2 succeeded: save living 8 announcing tokenRefreshed → access-1 saving access-2, generation 8
    2 ended: save ended refreshRejected 8 announcing sessionExpired, error 1 sessionExpired → ended refreshRejected, generation 8
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
    new target wanted: error 9 networkUnavailable
    target's token refused: error 9 networkUnavailable
    other target wanted: error 9 networkUnavailable
    covered target wanted: offline token 9
    login demanded: save living 8 → access-1 backing off for networkUnavailable, generation 8
  lost for a
    login accepted: save living 8 announcing login → access-1 backing off for refreshOutcomeUnknown, lost, generation 8
    token wanted: offline token 9
    new token wanted: error 9 refreshOutcomeUnknown
    token or login wanted: offline token 9
    token refused: spend 2 refresh-1 → access-1 sent 2, lost, generation 7
    target wanted: error 9 refreshOutcomeUnknown
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, lost, generation 8
    user described: save living 8 → access-1 backing off for refreshOutcomeUnknown, degraded, described, lost, generation 8
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
    new target wanted: error 9 refreshOutcomeUnknown
    target's token refused: error 9 refreshOutcomeUnknown
    other target wanted: error 9 refreshOutcomeUnknown
    covered target wanted: offline token 9
  sent for a, signing in
    login accepted: save living 9 announcing login → access-1 sent 1, generation 9
    saved 8: openIntent 2 of 8, revoke access-1 → access-5 preparing 2, generation 8
    token wanted: token 9
    token or login wanted: token 9
    tokens replaced: → access-1 resting, generation 8
    user described: → access-1 sent 1, described, generation 8
    logout wanted: error 1 loginRequired, save signedOut 9 announcing logout → signed out, generation 9
    covered target wanted: token 9
  answered for a, signing in
    login accepted: save living 9 announcing login → access-1 sent 1, generation 9
    saved 8: openIntent 2 of 8, revoke access-2 → access-5 preparing 2, generation 8
    save 8 failed: save living 9 → access-1 saving access-1, generation 9
    token wanted: token 9
    token or login wanted: token 9
    tokens replaced: → access-1 resting, generation 8
    user described: → access-1 sent 1, described, generation 8
    logout wanted: error 1 loginRequired, save signedOut 9 announcing logout → signed out, generation 9
    covered target wanted: token 9
  refused for a, signing in
    login accepted: save living 9 announcing login → access-1 sent 1, generation 9
    saved 8: openIntent 2 of 8, revoke access-1 → access-5 preparing 2, generation 8
    save 8 failed: closeIntent, error 1 insufficientScope → access-1 resting, generation 8
    token wanted: token 9
    token or login wanted: token 9
    tokens replaced: → access-1 resting, generation 8
    user described: → access-1 sent 1, described, generation 8
    logout wanted: error 1 loginRequired, save signedOut 9 announcing logout → signed out, generation 9
    covered target wanted: token 9
  """)
