/// What the session machine does with what other brokers have done, state by state; what is not listed does nothing.
let sharedSessionTable = StateTable(
  """
  signed out
    refreshed elsewhere: publish login → access-4 resting, generation 8
    target refreshed elsewhere: publish login → access-1 resting, generation 8
    refreshed and perhaps spent elsewhere: publish login → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login → access-4 resting, generation 9
    ended elsewhere: → ended refreshRejected, generation 9
    user wanted elsewhere: → wants the user, generation 9
    signed out elsewhere: → signed out, generation 9
    perhaps spent elsewhere: publish login → access-1 backing off for refreshOutcomeUnknown, lost, generation 7
    nothing new elsewhere: publish login → access-1 resting, generation 7
    an older record: publish login → access-4 resting, generation 6
  mistrusted
    refreshed elsewhere: publish login → access-4 resting, generation 0
    target refreshed elsewhere: publish login → access-1 resting, generation 0
    refreshed and perhaps spent elsewhere: publish login → access-4 backing off for refreshOutcomeUnknown, lost, generation 0
    logged in elsewhere: publish login → access-4 resting, generation 0
    ended elsewhere: → ended refreshRejected, generation 0
    user wanted elsewhere: → wants the user, generation 0
    signed out elsewhere: → signed out, generation 0
    perhaps spent elsewhere: publish login → access-1 backing off for refreshOutcomeUnknown, lost, generation 0
    nothing new elsewhere: publish login → access-1 resting, generation 0
    an older record: publish login → access-4 resting, generation 0
  waiting for a login
    refreshed elsewhere: publish login, token 1 → access-4 resting, generation 8
    target refreshed elsewhere: publish login, token 1 → access-1 resting, generation 8
    refreshed and perhaps spent elsewhere: publish login, offline token 1 → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login, token 1 → access-4 resting, generation 9
    ended elsewhere: → ended refreshRejected, generation 9
    user wanted elsewhere: → wants the user, generation 9
    signed out elsewhere: → signed out, generation 9
    perhaps spent elsewhere: publish login, offline token 1 → access-1 backing off for refreshOutcomeUnknown, lost, generation 7
    nothing new elsewhere: publish login, token 1 → access-1 resting, generation 7
    an older record: publish login, token 1 → access-4 resting, generation 6
  signing in
    refreshed elsewhere: publish login → access-4 resting, generation 8
    target refreshed elsewhere: publish login → access-1 resting, generation 8
    refreshed and perhaps spent elsewhere: publish login → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login → access-4 resting, generation 9
    ended elsewhere: → ended refreshRejected, generation 9
    user wanted elsewhere: → wants the user, generation 9
    signed out elsewhere: → signed out, generation 9
    perhaps spent elsewhere: publish login → access-1 backing off for refreshOutcomeUnknown, lost, generation 7
    nothing new elsewhere: publish login → access-1 resting, generation 7
    an older record: publish login → access-4 resting, generation 6
  ended
    refreshed elsewhere: publish login → access-4 resting, generation 8
    target refreshed elsewhere: publish login → access-1 resting, generation 8
    refreshed and perhaps spent elsewhere: publish login → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login → access-4 resting, generation 9
    ended elsewhere: → ended refreshRejected, generation 9
    user wanted elsewhere: → wants the user, generation 9
    signed out elsewhere: → signed out, generation 9
  wanting the user
    refreshed elsewhere: publish login → access-4 resting, generation 8
    target refreshed elsewhere: publish login → access-1 resting, generation 8
    refreshed and perhaps spent elsewhere: publish login → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login → access-4 resting, generation 9
    ended elsewhere: → ended refreshRejected, generation 9
    user wanted elsewhere: → wants the user, generation 9
    signed out elsewhere: → signed out, generation 9
  resting
    refreshed elsewhere: publish tokenRefreshed → access-4 resting, generation 8
    target refreshed elsewhere: → access-1 resting, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired → wants the user, generation 9
    signed out elsewhere: publish logout → signed out, generation 9
    perhaps spent elsewhere: → access-1 backing off for refreshOutcomeUnknown, lost, generation 7
  preparing
    intent held: → access-1 resting, generation 7
    refreshed elsewhere: publish tokenRefreshed, token 1 → access-4 resting, generation 8
    target refreshed elsewhere: openIntent 2 of 8 → access-1 preparing 2, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed, error 1 refreshOutcomeUnknown → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login, token 1 → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired, error 1 sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired, error 1 reauthRequired → wants the user, generation 9
    signed out elsewhere: publish logout, error 1 loginRequired → signed out, generation 9
    perhaps spent elsewhere: error 1 refreshOutcomeUnknown → access-1 backing off for refreshOutcomeUnknown, lost, generation 7
  sent
    refreshed elsewhere: publish tokenRefreshed, token 1 → access-4 resting, generation 8
    target refreshed elsewhere: openIntent 2 of 8 → access-1 preparing 2, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed, error 1 refreshOutcomeUnknown → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login, token 1 → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired, error 1 sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired, error 1 reauthRequired → wants the user, generation 9
    signed out elsewhere: publish logout, error 1 loginRequired → signed out, generation 9
  sent, after the idle timeout
    refreshed elsewhere: publish tokenRefreshed, token 1 → access-4 resting, generation 8
    target refreshed elsewhere: openIntent 2 of 8 → access-1 preparing 2, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed, error 1 refreshOutcomeUnknown → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login, token 1 → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired, error 1 sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired, error 1 reauthRequired → wants the user, generation 9
    signed out elsewhere: publish logout, error 1 loginRequired → signed out, generation 9
  saving
    refreshed elsewhere: publish tokenRefreshed, token 1 → access-4 resting, generation 8
    target refreshed elsewhere: openIntent 2 of 8 → access-1 preparing 2, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed, error 1 refreshOutcomeUnknown → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login, token 1 → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired, error 1 sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired, error 1 reauthRequired → wants the user, generation 9
    signed out elsewhere: publish logout, error 1 loginRequired → signed out, generation 9
  degraded
    refreshed elsewhere: publish tokenRefreshed → access-4 resting, generation 8
    target refreshed elsewhere: publish tokenRefreshed → access-1 resting, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired → wants the user, generation 9
    signed out elsewhere: publish logout → signed out, generation 9
  backing off
    refreshed elsewhere: publish tokenRefreshed → access-4 resting, generation 8
    target refreshed elsewhere: → access-1 resting, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired → wants the user, generation 9
    signed out elsewhere: publish logout → signed out, generation 9
    perhaps spent elsewhere: → access-1 backing off for refreshOutcomeUnknown, lost, generation 7
  holding back
    refreshed elsewhere: publish tokenRefreshed → access-4 resting, generation 8
    target refreshed elsewhere: → access-1 resting, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired → wants the user, generation 9
    signed out elsewhere: publish logout → signed out, generation 9
  holding back, after the end
    refreshed elsewhere: publish tokenRefreshed → access-4 resting, generation 8
    target refreshed elsewhere: → access-1 resting, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired → wants the user, generation 9
    signed out elsewhere: publish logout → signed out, generation 9
  preparing, signing in
    intent held: → access-1 resting, generation 8
    refreshed elsewhere: publish tokenRefreshed, token 1 → access-4 resting, generation 8
    target refreshed elsewhere: → access-1 resting, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login, token 1 → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired, error 1 sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired, error 1 reauthRequired → wants the user, generation 9
    signed out elsewhere: publish logout, error 1 loginRequired → signed out, generation 9
    perhaps spent elsewhere: → access-1 backing off for refreshOutcomeUnknown, lost, generation 8
  sent, signing in
    refreshed elsewhere: publish tokenRefreshed, token 1 → access-4 resting, generation 8
    target refreshed elsewhere: → access-1 resting, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login, token 1 → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired, error 1 sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired, error 1 reauthRequired → wants the user, generation 9
    signed out elsewhere: publish logout, error 1 loginRequired → signed out, generation 9
  answered, signing in
    refreshed elsewhere: publish tokenRefreshed, token 1 → access-4 resting, generation 8
    target refreshed elsewhere: → access-1 resting, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login, token 1 → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired, error 1 sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired, error 1 reauthRequired → wants the user, generation 9
    signed out elsewhere: publish logout, error 1 loginRequired → signed out, generation 9
  refused, signing in
    refreshed elsewhere: publish tokenRefreshed, token 1 → access-4 resting, generation 8
    target refreshed elsewhere: → access-1 resting, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login, token 1 → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired, error 1 sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired, error 1 reauthRequired → wants the user, generation 9
    signed out elsewhere: publish logout, error 1 loginRequired → signed out, generation 9
  awaiting another
    refreshed elsewhere: publish tokenRefreshed, token 1 → access-4 resting, generation 8
    target refreshed elsewhere: openIntent 2 of 8 → access-1 preparing 2, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed, error 1 refreshOutcomeUnknown → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login, token 1 → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired, error 1 sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired, error 1 reauthRequired → wants the user, generation 9
    signed out elsewhere: publish logout, error 1 loginRequired → signed out, generation 9
    perhaps spent elsewhere: error 1 refreshOutcomeUnknown → access-1 backing off for refreshOutcomeUnknown, lost, generation 7
    login accepted: save living 8 announcing login → access-1 resting, generation 8
    token wanted: token 9
    token or login wanted: token 9
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    logout wanted: error 1 loginRequired, save signedOut 8 announcing logout → signed out, generation 8
  awaiting another, after its lease
    intent held: openIntent 2 of 7 → access-1 preparing 2, generation 7
    another's intent held: openIntent 2 of 7 → access-1 preparing 2, generation 7
    refreshed elsewhere: publish tokenRefreshed, token 1 → access-4 resting, generation 8
    target refreshed elsewhere: openIntent 2 of 8 → access-1 preparing 2, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed, error 1 refreshOutcomeUnknown → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login, token 1 → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired, error 1 sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired, error 1 reauthRequired → wants the user, generation 9
    signed out elsewhere: publish logout, error 1 loginRequired → signed out, generation 9
    perhaps spent elsewhere: error 1 refreshOutcomeUnknown → access-1 backing off for refreshOutcomeUnknown, lost, generation 7
    login accepted: save living 8 announcing login → access-1 resting, generation 8
    token wanted: token 9
    new token wanted: openIntent 2 of 7 → access-1 preparing 2, generation 7
    token or login wanted: token 9
    token refused: openIntent 2 of 7 → access-1 preparing 2, generation 7
    target wanted: openIntent 2 of 7 → access-1 preparing 2, generation 7
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    logout wanted: error 1 loginRequired, save signedOut 8 announcing logout → signed out, generation 8
    rules changed: openIntent 2 of 7 → access-1 preparing 2, generation 7
    network returned: openIntent 2 of 7 → access-1 preparing 2, generation 7
    clock was set: openIntent 2 of 7 → access-1 preparing 2, generation 7
    woken: openIntent 2 of 7 → access-1 preparing 2, generation 7
  awaiting another, after the access token's end
    intent held: openIntent 2 of 7 → access-1 preparing 2, generation 7
    another's intent held: openIntent 2 of 7 → access-1 preparing 2, generation 7
    refreshed elsewhere: publish tokenRefreshed, openIntent 2 of 8 → access-4 preparing 2, generation 8
    target refreshed elsewhere: openIntent 2 of 8 → access-1 preparing 2, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed, openIntent 2 of 8 → access-4 preparing 2, lost, generation 8
    logged in elsewhere: publish login, openIntent 2 of 9 → access-4 preparing 2, generation 9
    ended elsewhere: publish sessionExpired, error 1 sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired, error 1 reauthRequired → wants the user, generation 9
    signed out elsewhere: publish logout, error 1 loginRequired → signed out, generation 9
    perhaps spent elsewhere: openIntent 2 of 7 → access-1 preparing 2, lost, generation 7
    login accepted: save living 8 announcing login → access-1 resting, generation 8
    token wanted: openIntent 2 of 7 → access-1 preparing 2, generation 7
    new token wanted: openIntent 2 of 7 → access-1 preparing 2, generation 7
    token or login wanted: openIntent 2 of 7 → access-1 preparing 2, generation 7
    token refused: openIntent 2 of 7 → access-1 preparing 2, generation 7
    target wanted: openIntent 2 of 7 → access-1 preparing 2, generation 7
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, generation 8
    logout wanted: error 1 loginRequired, save signedOut 8 announcing logout → signed out, generation 8
    rules changed: discard access-1, save ended idleTimeout 8 announcing sessionExpired, error 1 sessionExpired → ended idleTimeout, generation 8
    network returned: openIntent 2 of 7 → access-1 preparing 2, generation 7
    clock was set: openIntent 2 of 7 → access-1 preparing 2, generation 7
    woken: openIntent 2 of 7 → access-1 preparing 2, generation 7
  perhaps spent by another
    refreshed elsewhere: publish tokenRefreshed → access-4 resting, generation 8
    target refreshed elsewhere: → access-1 resting, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired → wants the user, generation 9
    signed out elsewhere: publish logout → signed out, generation 9
    login accepted: save living 8 announcing login → access-1 backing off for refreshOutcomeUnknown, lost, generation 8
    token wanted: offline token 9
    new token wanted: error 9 refreshOutcomeUnknown
    token or login wanted: offline token 9
    token refused: openIntent 1 of 7 → access-1 preparing 1, lost, generation 7
    target wanted: error 9 refreshOutcomeUnknown
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, lost, generation 8
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
  perhaps spent by another, after the access token's end
    refreshed elsewhere: publish tokenRefreshed → access-4 resting, generation 8
    target refreshed elsewhere: → access-1 resting, generation 8
    refreshed and perhaps spent elsewhere: publish tokenRefreshed → access-4 backing off for refreshOutcomeUnknown, lost, generation 8
    logged in elsewhere: publish login → access-4 resting, generation 9
    ended elsewhere: publish sessionExpired → ended refreshRejected, generation 9
    user wanted elsewhere: publish sessionExpired → wants the user, generation 9
    signed out elsewhere: publish logout → signed out, generation 9
    login accepted: save living 8 announcing login → access-1 backing off for refreshOutcomeUnknown, lost, generation 8
    token wanted: openIntent 1 of 7 → access-1 preparing 1, lost, generation 7
    new token wanted: openIntent 1 of 7 → access-1 preparing 1, lost, generation 7
    token or login wanted: openIntent 1 of 7 → access-1 preparing 1, lost, generation 7
    token refused: openIntent 1 of 7 → access-1 preparing 1, lost, generation 7
    target wanted: openIntent 1 of 7 → access-1 preparing 1, lost, generation 7
    tokens replaced: save living 8 announcing tokenRefreshed → access-1 saving access-3, lost, generation 8
    logout wanted: save signedOut 8 announcing logout → signed out, generation 8
    rules changed: openIntent 1 of 7 → access-1 preparing 1, lost, generation 7
    network returned: openIntent 1 of 7 → access-1 preparing 1, lost, generation 7
    clock was set: openIntent 1 of 7 → access-1 preparing 1, lost, generation 7
    woken: openIntent 1 of 7 → access-1 preparing 1, lost, generation 7
  """)
