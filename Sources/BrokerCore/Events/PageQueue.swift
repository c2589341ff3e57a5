/// A page of kept events that is wanted.
struct PageReading: Sendable {
  /// Who wants it.
  let client: ClientID
  /// The sequence that it begins behind.
  let after: UInt64
  /// The last sequence that is wanted.
  let through: UInt64
  /// Takes the page; nil where the store cannot give it.
  let done: @Sendable (isolated Broker, StoredEvents?) -> Void

  /// A request for a page.
  init(
    client: ClientID, after: UInt64, through: UInt64,
    _ done: @escaping @Sendable (isolated Broker, StoredEvents?) -> Void
  ) {
    self.client = client
    self.after = after
    self.through = through
    self.done = done
  }
}

/// The pages of kept events that are wanted: one is read at a time, and no connection has two in a row while another waits.
struct PageQueue: Sendable {
  private var waiting: [PageReading] = []
  private var isReading = false
  private var lastClient: ClientID?

  /// Adds a request for a page.
  mutating func add(_ reading: PageReading) { waiting.append(reading) }

  /// Takes the next request to be performed; nil where there is none, or one is being performed.
  mutating func takeNext() -> PageReading? {
    guard !isReading, !waiting.isEmpty else { return nil }
    let reading = waiting.remove(at: waiting.firstIndex { $0.client != lastClient } ?? 0)
    lastClient = reading.client
    isReading = true
    return reading
  }

  /// Notes that the request that was taken last has been performed.
  mutating func noteFinished() { isReading = false }

  /// Forgets what a closed connection wanted; a page that is being read is still read.
  mutating func forget(_ client: ClientID) { waiting.removeAll { $0.client == client } }
}
