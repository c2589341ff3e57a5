/// The pages of kept events that are wanted: one is read at a time, and no connection has two in a row while another waits.
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

  /// Forgets what a closed connection wanted; a page that is being read is still read.
  mutating func forget(_ client: ClientID) { waiting.removeAll { $0.client == client } }
}
