/// The grants from the cache, counted for each client: as long as a span of the audit lasts, a cached token costs it a
/// compare and an addition.
///
/// What is not covered is left to the broker, which notes it and covers what follows.
struct AuditedGrants {
  /// The most clients that are known at a time.
  static let mostClients = 1024
  /// The most profiles of a client that are counted here: more than a program asks for in turns.
  private static let mostProfiles = 32

  private struct Span {
    var position: Int
    /// The number of the profile's token that it is of.
    var token: UInt64
    /// When it ends, in milliseconds of uptime.
    var until: Int64
    /// The name of the span in the audit.
    var id: UInt64
    var count: Int
  }

  /// The spans of each client.
  private var clients: [[Span]] = []
  /// The number of the first client: those before it are known no more.
  private var firstClient = 0
  /// The counts of spans that are gone.
  private var settled: [UInt64: Int] = [:]
  /// The span that was counted last.
  private var last = (client: 0, span: 0)

  /// A number for a client that was not known; earlier ones may be forgotten, which costs them a look of the broker's.
  mutating func addClient() -> Int {
    if clients.count >= Self.mostClients {
      settleAll()
      firstClient += clients.count
      clients = []
    }
    clients.append([])
    return firstClient + clients.count - 1
  }

  /// Counts a grant; false where no span covers it.
  @inline(__always)
  mutating func count(_ client: Int, _ position: Int, _ token: UInt64, at uptime: Int64) -> Bool {
    let index = client - firstClient
    guard index >= 0, index < clients.count else { return false }
    var place = 0
    while place < clients[index].count {
      if clients[index][place].position == position {
        guard clients[index][place].token == token, uptime < clients[index][place].until else { return false }
        clients[index][place].count += 1
        last = (index, place)
        return true
      }
      place += 1
    }
    return false
  }

  /// Counts more of what was counted last; a negative number is subtracted.
  mutating func countMore(_ count: Int) {
    guard last.client < clients.count, last.span < clients[last.client].count else { return }
    clients[last.client][last.span].count += count
  }

  /// Covers the grants of a profile's present token to a client until a moment.
  mutating func cover(_ client: Int, _ position: Int, _ token: UInt64, as id: UInt64, until: Int64) {
    let index = client - firstClient
    guard index >= 0, index < clients.count else { return }
    let span = Span(position: position, token: token, until: until, id: id, count: 0)
    if let place = clients[index].firstIndex(where: { $0.position == position }) {
      settle(clients[index][place])
      clients[index][place] = span
    } else {
      if clients[index].count >= Self.mostProfiles { settle(clients[index].removeFirst()) }
      clients[index].append(span)
    }
  }

  private mutating func settle(_ span: Span) {
    if span.count > 0 { settled[span.id, default: 0] += span.count }
  }

  /// Ends all spans: positions mean other profiles from now on.
  mutating func settleAll() {
    for index in clients.indices {
      for span in clients[index] { settle(span) }
      clients[index] = []
    }
  }

  /// The counts since the last call, by the names of the spans.
  mutating func takeCounts() -> [UInt64: Int] {
    for index in clients.indices {
      for place in clients[index].indices where clients[index][place].count > 0 {
        settled[clients[index][place].id, default: 0] += clients[index][place].count
        clients[index][place].count = 0
      }
    }
    defer { settled = [:] }
    return settled
  }
}
