/// What is learnt of one provider: learnt once, for all profiles of its type, address and client.
///
/// Confined to the broker's executor.
final class ProviderView {
  /// Whether it is within reach.
  var network = NetworkState.up
  /// When it is asked again without a caller's wish, if it is not well.
  var rest = ProviderRest()
  /// Whether a call has failed since it last accepted one: profiles may wait for it to be well.
  var isDoubted = false
  /// What ends with a token that is revoked there, as was seen; nil where nothing was.
  var revocation: RevocationHabit?
  /// How far its clock is off.
  var clock = ProviderClock()
}
