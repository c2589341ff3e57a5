/// The requests that wait for the vault's key to be tried, and which of them is next.
///
/// Each costs a slow hash, and each wrong passphrase delays the next try. So a connection has at most one request that
/// waits, and those with the fewest wrong passphrases come first: a connection that guesses keeps no other one out.
struct KeyAttemptQueue {
  /// What became of a request.
  enum Admission {
    /// It waits for its turn.
    case admitted
    /// It waits in the place of one whose connection has guessed wrongly more often, which is to be refused.
    case displaced(KeyAttempt)
    /// It is refused: another one of its connection waits.
    case refused
    /// It is refused: too many wait, and none of a connection that has guessed wrongly more often.
    case full
  }

  /// Of how many connections wrong passphrases are remembered: more than wait at any time, and little memory.
  private static let memoryLimit = 1024

  private var entries: [KeyAttempt] = []
  private var failures: [ClientID: Int] = [:]

  /// How many wait.
  var count: Int { entries.count }
  /// Whether nothing waits.
  var isEmpty: Bool { entries.isEmpty }

  /// Lets a request wait behind fewer than `limit` others.
  mutating func add(_ attempt: KeyAttempt, limit: Int) -> Admission {
    if let client = attempt.client, entries.contains(where: { $0.client == client }) { return .refused }
    guard entries.count >= limit else {
      entries.append(attempt)
      return .admitted
    }
    guard let worst = entries.indices.max(by: { count(entries[$0].client) < count(entries[$1].client) }),
      count(entries[worst].client) > count(attempt.client)
    else { return .full }
    let displaced = entries.remove(at: worst)
    entries.append(attempt)
    return .displaced(displaced)
  }

  /// Takes the next request: of those with the fewest wrong passphrases, the one that came first.
  mutating func takeNext() -> KeyAttempt? {
    entries.indices.min(by: { count(entries[$0].client) < count(entries[$1].client) }).map { entries.remove(at: $0) }
  }

  /// Counts a wrong passphrase of a connection.
  mutating func noteFailure(of client: ClientID?) {
    guard let client else { return }
    if failures.count >= Self.memoryLimit { failures = [:] }
    failures[client, default: 0] += 1
  }

  /// Forgets the wrong passphrases of all: the right one was given.
  mutating func noteSuccess() { failures = [:] }

  /// Forgets a connection that is closed, whose attempts cost the others nothing any more.
  ///
  /// - Returns: what it waited for.
  mutating func forget(_ client: ClientID) -> [KeyAttempt] {
    failures[client] = nil
    return remove { $0.client == client }
  }

  /// Takes out the requests that `isTaken` picks.
  mutating func remove(where isTaken: (KeyAttempt) -> Bool) -> [KeyAttempt] {
    let taken = entries.filter(isTaken)
    entries.removeAll(where: isTaken)
    return taken
  }

  private func count(_ client: ClientID?) -> Int { client.flatMap { failures[$0] } ?? 0 }
}
