/// What the refresh machine does, state by state; what is not listed does nothing.
let refreshTable = StateTable(
  """
  resting
    wanted: open 1 of 7 → preparing 1
    intent found: → holding back, lost
    replaced: → saving
  resting without rotation
    wanted: send 1 → sent 1
    intent found: close
    replaced: → saving
  preparing
    replaced: → saving
    settled: → resting
    ended: → resting
    1 intent saved: send 1 → sent 1
    1 intent failed: report storeFailed → backing off until 11 for storeFailed
    1 called off: close → resting
  sent
    replaced: → saving
    settled: → resting
    ended: → resting
    1 succeeded: → saving
    1 refused: end refreshRejected refreshTokenReuse → resting
    1 wants the user: end refreshRejected to see the user → resting
    1 busy: close, report providerUnavailable → backing off until 40 for providerUnavailable
    1 offline: close, report networkUnavailable → backing off until 11 for networkUnavailable
    1 misconfigured: close, report providerRejected → backing off until 11 for providerRejected
    1 lost: report refreshOutcomeUnknown → holding back, lost
    1 not granted: close → resting
  sent without rotation
    replaced: → saving
    settled: → resting
    ended: → resting
    1 succeeded: → saving
    1 refused: end refreshRejected refreshTokenReuse → resting
    1 wants the user: end refreshRejected to see the user → resting
    1 busy: report providerUnavailable → backing off until 40 for providerUnavailable
    1 offline: report networkUnavailable → backing off until 11 for networkUnavailable
    1 misconfigured: report providerRejected → backing off until 11 for providerRejected
    1 lost: report timeout → backing off until 11 for timeout
    1 not granted: → resting
  sent, with a grace
    replaced: → saving
    settled: → resting
    ended: → resting
    1 succeeded: → saving
    1 refused: end refreshRejected refreshTokenReuse → resting
    1 wants the user: end refreshRejected to see the user → resting
    1 busy: close, report providerUnavailable → backing off until 40 for providerUnavailable
    1 offline: close, report networkUnavailable → backing off until 11 for networkUnavailable
    1 misconfigured: close, report providerRejected → backing off until 11 for providerRejected
    1 lost: open 2 of 7 as replayed → preparing 2, lost
    1 not granted: close → resting
  saving
    settled: → resting
    ended: → resting
  backing off from the network
    wanted: refuse networkUnavailable for 1
    replaced: → saving
    settled: → resting
    ended: → resting
    network returned: → backing off until 0 for networkUnavailable
  backing off from the network, for long enough
    wanted: open 2 of 7 → preparing 2
    replaced: → saving
    settled: → resting
    ended: → resting
  backing off from the provider
    wanted: refuse providerUnavailable for 20
    replaced: → saving
    settled: → resting
    ended: → resting
  holding back
    wanted: refuse refreshOutcomeUnknown for 890
    replaced: → saving, lost
    settled: → resting
    ended: → resting
  holding back, after the end
    wanted: send 2 → sent 2, lost and replayed
    replaced: → saving, lost
    settled: → resting
    ended: → resting
  preparing a replay
    replaced: → saving, lost
    settled: → resting
    ended: → resting
    2 intent saved: send 2 → sent 2, lost and replayed
    2 intent failed: report refreshOutcomeUnknown → backing off until 11 for refreshOutcomeUnknown, lost
    2 called off: → holding back, lost
  sent as a replay
    replaced: → saving, lost and replayed
    settled: → resting
    ended: → resting
    2 succeeded: → saving, lost and replayed
    2 refused: end refreshOutcomeUnknown → resting
    2 wants the user: end refreshRejected to see the user → resting
    2 busy: report refreshOutcomeUnknown → holding back, lost and replayed
    2 offline: report refreshOutcomeUnknown → backing off until 11 for refreshOutcomeUnknown, lost
    2 misconfigured: report refreshOutcomeUnknown → holding back, lost and replayed
    2 lost: report refreshOutcomeUnknown → holding back, lost and replayed
    2 not granted: → holding back, lost and replayed
  sent after the end
    replaced: → saving, lost and replayed
    settled: → resting
    ended: → resting
    2 succeeded: → saving, lost and replayed
    2 refused: end refreshOutcomeUnknown → resting
    2 wants the user: end refreshRejected to see the user → resting
    2 busy: report refreshOutcomeUnknown → backing off until 40 for refreshOutcomeUnknown, lost and replayed
    2 offline: report refreshOutcomeUnknown → backing off until 12 for refreshOutcomeUnknown, lost
    2 misconfigured: report refreshOutcomeUnknown → backing off until 12 for refreshOutcomeUnknown, lost and replayed
    2 lost: report refreshOutcomeUnknown → backing off until 12 for refreshOutcomeUnknown, lost and replayed
    2 not granted: → backing off until 10 for refreshOutcomeUnknown, lost and replayed
  """)
