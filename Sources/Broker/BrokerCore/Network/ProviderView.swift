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

/// What is learnt of the providers of the configuration, by what sessions are bound to.
struct ProviderViews {
  private var views: [ProviderBinding: ProviderView] = [:]

  /// Nothing is known of any provider yet.
  init() {}

  /// Gives profiles the view of their provider, and forgets providers that none of them has.
  mutating func assign(to slots: [ProfileSlot]) {
    let known = views
    views = [:]
    for slot in slots {
      let binding = slot.machine.binding
      let view = views[binding] ?? known[binding] ?? ProviderView()
      views[binding] = view
      slot.view = view
    }
  }

  /// All of them.
  var all: some Sequence<ProviderView> { views.values }
}
