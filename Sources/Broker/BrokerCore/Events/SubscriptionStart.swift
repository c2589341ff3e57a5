import BrokerProtocol

/// A subscription that has not begun, and the kept events that were read for it.
struct SubscriptionStart: Sendable {
  /// The caller.
  let caller: Caller<Subscribe.Result>
  /// Its connection.
  let client: ClientID
  /// What it wants.
  let wish: SubscriptionHub.Wish
  /// The last event that the subscriber knows; nil where it wants none that it has missed.
  let since: UInt64?
  /// How many pages were read.
  private(set) var pages = 0
  /// The events of these pages.
  private(set) var events: [BrokerEvent] = []

  /// A subscription for which nothing was read.
  init(
    _ caller: Caller<Subscribe.Result>, _ client: ClientID, _ wish: SubscriptionHub.Wish, since: UInt64?
  ) {
    self.caller = caller
    self.client = client
    self.wish = wish
    self.since = since
  }

  /// Adds a page that was read.
  mutating func add(_ page: StoredEvents) {
    events += page.events
    pages += 1
  }
}
