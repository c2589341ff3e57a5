/// How much is under way off the loop.
struct WorkCount {
  /// How many slow things are under way whose results must not be lost.
  private(set) var calls = 0
  /// How many checks of providers are under way: nothing is lost if that ends early.
  private(set) var providerChecks = 0

  /// Begins a slow thing.
  mutating func beginCall() { calls += 1 }

  /// Ends a slow thing.
  mutating func endCall() { calls -= 1 }

  /// Begins a check of providers.
  mutating func beginProviderCheck() { providerChecks += 1 }

  /// Ends a check of providers.
  mutating func endProviderCheck() { providerChecks -= 1 }
}
