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
