import BrokerProtocol

/// A page of kept events that is wanted.
struct PageReading: Sendable {
  /// The use of a page.
  enum Purpose: Sendable {
    /// A subscription begins with it.
    case beginning(SubscriptionStart)
    /// A subscription of this name goes on with it.
    case replay(String)
  }

  /// The connection.
  let client: ClientID
  /// The sequence that it begins behind.
  let after: UInt64
  /// The last sequence that is wanted.
  let through: UInt64
  /// The use of the page.
  let purpose: Purpose

  /// Whether events wait in memory for this page.
  var holdsEvents: Bool {
    if case .beginning(let start) = purpose { !start.events.isEmpty } else { false }
  }
}

/// The requested pages of kept events: one is read at a time, and no connection has two in a row while another waits.
///
/// Only a subscription that has begun to read before its answer has its further pages at once: so one of them holds
/// events in memory, however many wait.
struct PageQueue: Sendable {
  private var waiting: [PageReading] = []
  private var isReading = false
  private var lastClient: ClientID?

  /// Adds a request for a page.
  mutating func add(_ reading: PageReading) { waiting.append(reading) }

  /// Takes the next request to be performed; nil where there is none, or one is being performed.
  mutating func takeNext() -> PageReading? {
    guard !isReading, !waiting.isEmpty else { return nil }
    let next = waiting.firstIndex(where: \.holdsEvents) ?? waiting.firstIndex { $0.client != lastClient } ?? 0
    let reading = waiting.remove(at: next)
    lastClient = reading.client
    isReading = true
    return reading
  }

  /// Notes that the request that was taken last has been performed.
  mutating func noteFinished() { isReading = false }

  /// Drops the page requests of a closed connection; a page that is being read is still read.
  mutating func forget(_ client: ClientID) { waiting.removeAll { $0.client == client } }
}

/// The next page of a subscription's missed events.
package struct ReplayPage: Sendable {
  /// The connection.
  package let client: ClientID
  /// The subscription on it.
  package let subscriptionID: String
  /// The events, as far as they are wanted.
  package var deliveries: [SubscriptionHub.Delivery] = []
  /// The first and the last sequence of events that are no longer available; they come before the events.
  package var lost: (from: UInt64, through: UInt64)?
  /// Whether it is the last page: further events are delivered as they happen.
  package var isLast = false
}

/// Replays of events that memory no longer has, page by page: no other call waits for the store longer than one page
/// takes.
extension Broker {
  /// Sends the next page of a subscription's missed events; its connection asks when it has room for one.
  ///
  /// Pages of the store are read one at a time, over all connections: a change that is to be saved waits for one at
  /// most.
  package func nextPage(of client: ClientID, _ id: String) {
    switch eventLog.hub.nextPage(of: client, id) {
    case .store(let after, let through):
      read(PageReading(client: client, after: after, through: through, purpose: .replay(id)))
    case let page: tell(page, to: client, id)
    }
  }

  /// Sends a subscription the page that was read for it; nil where the store could not give it.
  private func replay(_ reading: PageReading, _ id: String, _ stored: StoredEvents?) {
    let client = reading.client
    guard let stored else { return tell(eventLog.hub.skipStore(client, id), to: client, id) }
    // What the store has dropped since the last page is told as lost, with the page that comes next.
    guard let wish = eventLog.hub.wish(of: client, id), eventLog.hub.mayReplay(since: reading.after, wish) else {
      return nextPage(of: client, id)
    }
    eventLog.hub.advance(client, id, through: stored.through)
    let missed = deliveries(of: stored.events, wish, client, id)
    notify(.missed(ReplayPage(client: client, subscriptionID: id, deliveries: missed)))
  }

  private func tell(_ next: SubscriptionHub.Page, to client: ClientID, _ id: String) {
    var page = ReplayPage(client: client, subscriptionID: id)
    switch next {
    case .events(let events, let isLast):
      let wish = eventLog.hub.wish(of: client, id) ?? SubscriptionHub.Wish()
      page.deliveries = deliveries(of: events, wish, client, id)
      page.isLast = isLast
    case .lost(let from, let through): page.lost = (from, through)
    case .none, .store: page.isLast = !eventLog.hub.isReplaying(client, id)
    }
    notify(.missed(page))
  }

  /// Reads a page when its turn comes.
  func read(_ reading: PageReading) {
    eventLog.pages.add(reading)
    readNextPage()
  }

  private func readNextPage() {
    while let reading = eventLog.pages.takeNext() {
      guard !vault.isOpen else { return askStore(for: reading) }
      eventLog.pages.noteFinished()
      give(nil, to: reading)
    }
  }

  private func askStore(for reading: PageReading) {
    askStore { store throws(StoreFailure) in
      try await store.events(after: reading.after, through: reading.through, limit: SubscriptionHub.pageCount)
    } then: { broker, result in
      if case .failure(.tampered) = result { broker.raiseTampering(of: nil) }
      broker.eventLog.pages.noteFinished()
      let stored = try? result.get()
      if let stored { broker.eventLog.hub.note(stored.completeness) }
      broker.give(stored, to: reading)
      broker.readNextPage()
    }
  }

  private func give(_ stored: StoredEvents?, to reading: PageReading) {
    switch reading.purpose {
    case .beginning(let start): proceed(start, with: stored)
    case .replay(let id): replay(reading, id, stored)
    }
  }
}
