/// The shared knowledge about one provider, for all profiles of its type, address and client.
///
/// Confined to the broker's executor.
final class ProviderView {
  /// Whether the provider can be reached.
  var network = NetworkState.up
  /// When it is asked again without a caller's wish, if it is not well.
  var rest = ProviderRest()
  /// Whether a call has failed since it last accepted one: profiles may wait for it to be well.
  var isDoubted = false
  /// The extent of a revocation there, as observed; nil where none was.
  var revocation: RevocationHabit?
  /// How far its clock is off.
  var clock = ProviderClock()
}

/// The knowledge about the configured providers, by the binding of their sessions.
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
