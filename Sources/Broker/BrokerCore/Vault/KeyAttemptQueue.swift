import BrokerProtocol
import SecretMemory

/// One request that needs the vault's key again.
struct KeyAttempt: Sendable {
  /// The use of the key.
  enum Wish: Sendable {
    /// Open the vault.
    case unlock(Secret?)
    /// Re-encrypt the vault.
    case rekey(Rekey.Params)
  }

  /// The caller that waits for the answer.
  let caller: CallerID
  /// The principal that sent the request.
  let principal: Principal
  /// The use of the key.
  let wish: Wish

  /// Whether the vault is to be opened.
  var isUnlock: Bool {
    if case .unlock = wish { true } else { false }
  }

  /// The parameter that a new passphrase came in.
  var newPassphrase: String { isUnlock ? "/passphrase" : "/newPassphrase" }

  /// The name of the missing passphrase's parameter: the present one's where the key comes from one, else the new
  /// one's.
  func missingPassphrase(_ present: KeySourceName) -> String {
    present == .passphrase ? "/passphrase" : newPassphrase
  }
}

/// The requests that wait for the vault's key to be tried, and their order.
///
/// Each costs a slow hash, and each wrong passphrase delays the next try. So a connection has at most one request that
/// waits, and those of the process with the fewest wrong passphrases come first: a process that guesses keeps no other
/// one out, also where it connects again for each guess.
struct KeyAttemptQueue {
  /// The outcome of adding a request.
  enum Admission {
    /// It waits for its turn.
    case admitted
    /// It waits in the place of one whose process has guessed wrongly more often, which is to be refused.
    case displaced(KeyAttempt)
    /// It is refused: another one of its connection waits.
    case refused
    /// It is refused: too many wait, and none of a process that has guessed wrongly more often.
    case full
  }

  /// The most processes whose wrong passphrases are remembered: as many as can wait at any time, and little memory.
  private static let memoryLimit = 1024

  private var entries: [KeyAttempt] = []
  private var failures: [Principal.Guesser: Int] = [:]

  /// How many wait.
  var count: Int { entries.count }
  /// Whether nothing waits.
  var isEmpty: Bool { entries.isEmpty }

  /// Lets a request wait behind fewer than `limit` others.
  mutating func add(_ attempt: KeyAttempt, limit: Int) -> Admission {
    if let client = attempt.principal.client, entries.contains(where: { $0.principal.client == client }) {
      return .refused
    }
    guard entries.count >= limit else {
      entries.append(attempt)
      return .admitted
    }
    guard let worst = entries.indices.max(by: { count(entries[$0]) < count(entries[$1]) }),
      count(entries[worst]) > count(attempt)
    else { return .full }
    let displaced = entries.remove(at: worst)
    entries.append(attempt)
    return .displaced(displaced)
  }

  /// Takes the next request: of those with the fewest wrong passphrases, the one that came first.
  mutating func takeNext() -> KeyAttempt? {
    entries.indices.min(by: { count(entries[$0]) < count(entries[$1]) }).map { entries.remove(at: $0) }
  }

  /// Counts a wrong passphrase; where too many processes have given some, one that gave the fewest is forgotten.
  mutating func noteFailure(of principal: Principal?) {
    guard let guesser = principal?.guesser else { return }
    failures[guesser, default: 0] += 1
    guard failures.count > Self.memoryLimit else { return }
    let others = failures.filter { $0.key != guesser }
    if let fewest = others.min(by: { $0.value < $1.value }) { failures[fewest.key] = nil }
  }

  /// Forgets the wrong passphrases of all: the right one was given.
  mutating func noteSuccess() { failures = [:] }

  /// Forgets a connection that is closed; the wrong passphrases of its process are remembered.
  ///
  /// - Returns: what it waited for.
  mutating func forget(_ client: ClientID) -> [KeyAttempt] {
    failures[.connection(client)] = nil
    return remove { $0.principal.client == client }
  }

  /// Takes out the requests that `isTaken` picks.
  mutating func remove(where isTaken: (KeyAttempt) -> Bool) -> [KeyAttempt] {
    let taken = entries.filter(isTaken)
    entries.removeAll(where: isTaken)
    return taken
  }

  private func count(_ attempt: KeyAttempt) -> Int { attempt.principal.guesser.flatMap { failures[$0] } ?? 0 }
}
