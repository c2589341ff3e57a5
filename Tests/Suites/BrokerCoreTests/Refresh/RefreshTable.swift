/// What the refresh machine does, state by state; what is not listed does nothing.
let refreshTable = StateTable(
  """
  resting
    wanted for a target: open 1 of 7 → preparing 1
    wanted: open 1 of 7 → preparing 1
    intent found: → holding back, lost
    replaced: → saving
  resting without rotation
    wanted for a target: send 1 → sent 1
    wanted: send 1 → sent 1
    intent found: close
    replaced: → saving
  resting, seen not to rotate
    wanted for a target: open 1 of 7 → preparing 1
    wanted: open 1 of 7 → preparing 1
    intent found: → holding back, lost
    replaced: → saving
  sent, seen not to rotate
    began: → resting
    1 wants a proof: close, open 2 of 7 → preparing 2
    1 no room: close, report overloaded → backing off until 11 for overloaded
    1 behind a gateway: report providerUnavailable → backing off until 40 for providerUnavailable
    replaced: → saving
    settled: → resting
    ended: → resting
    1 succeeded: → saving
    1 refused: end refreshRejected refreshTokenReuse → resting
    1 wants the user: end refreshRejected to see the user → resting
    1 busy: close, report providerUnavailable → backing off until 40 for providerUnavailable
    1 offline: close, report networkUnavailable → backing off until 11 for networkUnavailable
    1 misconfigured: close, report providerRejected → backing off until 11 for providerRejected
    1 lost: report timeout → backing off until 11 for timeout
    1 not granted: close → resting
  preparing
    began: → resting
    1 no room: report overloaded → backing off until 11 for overloaded
    replaced: → saving
    settled: → resting
    ended: → resting
    1 intent saved: send 1 → sent 1
    1 intent held: → awaiting another until 40
    1 intent failed: report storeFailed → backing off until 11 for storeFailed
    1 cancelled: close → resting
  awaiting another
    began: → resting
    replaced: → saving
    settled: → resting
    ended: → resting
  awaiting another, after its lease
    wanted for a target: open 2 of 7 → preparing 2
    began: → resting
    wanted: open 2 of 7 → preparing 2
    replaced: → saving
    settled: → resting
    ended: → resting
  awaiting another, lost
    wanted for a target: open 2 of 7 as replayed → preparing 2, lost
    began: → resting
    wanted: open 2 of 7 as replayed → preparing 2, lost
    replaced: → saving, lost
    settled: → resting
    ended: → resting
  sent
    began: → resting
    1 wants a proof: close, open 2 of 7 → preparing 2
    1 no room: close, report overloaded → backing off until 11 for overloaded
    1 behind a gateway: report refreshOutcomeUnknown → holding back, lost
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
    began: → resting
    1 wants a proof: send 2 → sent 2
    1 no room: report overloaded → backing off until 11 for overloaded
    1 behind a gateway: report providerUnavailable → backing off until 40 for providerUnavailable
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
    began: → resting
    1 wants a proof: close, open 2 of 7 → preparing 2
    1 no room: close, report overloaded → backing off until 11 for overloaded
    1 behind a gateway: open 2 of 7 as replayed → preparing 2, lost
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
    began: → resting
    settled: → resting
    ended: → resting
  backing off from the network
    wanted for a target: refuse networkUnavailable for 1
    began: → resting
    wanted: refuse networkUnavailable for 1
    replaced: → saving
    settled: → resting
    ended: → resting
    network returned: → backing off until 0 for networkUnavailable
    provider serves: → backing off until 0 for networkUnavailable
    client accepted: → backing off until 0 for networkUnavailable
    reconfigured: → backing off until 0 for networkUnavailable
  backing off from the network, for long enough
    wanted for a target: open 2 of 7 → preparing 2
    began: → resting
    wanted: open 2 of 7 → preparing 2
    replaced: → saving
    settled: → resting
    ended: → resting
    reconfigured: → backing off until 10 for networkUnavailable
  backing off from the provider
    wanted for a target: refuse providerUnavailable for 20
    began: → resting
    wanted: refuse providerUnavailable for 20
    replaced: → saving
    settled: → resting
    ended: → resting
    reconfigured: → backing off until 10 for providerUnavailable
  holding back
    wanted for a target: refuse refreshOutcomeUnknown for 890
    began: → resting
    wanted: refuse refreshOutcomeUnknown for 890
    replaced: → saving, lost
    settled: → resting
    ended: → resting
  holding back, after the end
    wanted for a target: send 2 → sent 2, lost and replayed
    began: → resting
    wanted: send 2 → sent 2, lost and replayed
    replaced: → saving, lost
    settled: → resting
    ended: → resting
  preparing a replay
    began: → resting
    2 no room: report refreshOutcomeUnknown → backing off until 11 for refreshOutcomeUnknown, lost
    replaced: → saving, lost
    settled: → resting
    ended: → resting
    2 intent saved: send 2 → sent 2, lost and replayed
    2 intent held: → awaiting another until 40, lost
    2 intent failed: report refreshOutcomeUnknown → backing off until 11 for refreshOutcomeUnknown, lost
    2 cancelled: → holding back, lost
  sent as a replay
    began: → resting
    2 wants a proof: open 3 of 7 as replayed → preparing 3, lost
    2 no room: report refreshOutcomeUnknown → backing off until 11 for refreshOutcomeUnknown, lost
    2 behind a gateway: report refreshOutcomeUnknown → holding back, lost and replayed
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
    began: → resting
    2 wants a proof: send 3 → sent 3, lost and replayed
    2 no room: report refreshOutcomeUnknown → backing off until 12 for refreshOutcomeUnknown, lost
    2 behind a gateway: report refreshOutcomeUnknown → backing off until 40 for refreshOutcomeUnknown, lost and replayed
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
  barred
    wanted: refuse rateLimited for 50
    wanted for a target: open 21 of 7 → preparing 21
    replaced: → saving
    began: → resting
    settled: → resting
    ended: → resting
  holding back a refused token
    reconfigured: → backing off until 10 for refreshOutcomeUnknown, lost
    wanted: send 2 → sent 2, lost and replayed
    wanted for a target: send 2 → sent 2, lost and replayed
    replaced: → saving, lost
    began: → resting
    settled: → resting
    ended: → resting
  """)
