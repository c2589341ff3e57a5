package import SecretMemory

/// A code that was given for a pending login; callers that give the same one share its answer.
package struct CodeGuess: Sendable, Equatable {
  /// Names the guess: the caller that gave it first.
  package let id: CallerID
  /// The code.
  package let code: Secret
  /// Whether it is one of the account's backup codes.
  package let isBackupCode: Bool
  /// The callers that wait for the answer.
  package internal(set) var callers: [CallerID]

  /// A guess of one caller.
  package init(_ caller: CallerID, _ code: Secret, isBackupCode: Bool = false) {
    id = caller
    self.code = code
    self.isBackupCode = isBackupCode
    callers = [caller]
  }

  /// Whether both say the same.
  func isSame(as other: CodeGuess) -> Bool { isBackupCode == other.isBackupCode && code == other.code }
}

/// The resending of a pending login's code: one at a time, at the provider's pace.
package struct CodeResend: Sendable, Equatable {
  /// The caller that waits for another code; nil where none is being sent.
  package internal(set) var caller: CallerID?
  /// When another code may be sent, on both clocks: a clock that is set back keeps no user waiting.
  var allowedAt: Deadline

  /// The callers that wait.
  var callers: [CallerID] { caller.map { [$0] } ?? [] }

  /// How long to wait before another code may be sent; not above zero where it may be.
  func wait(at now: Moment) -> Duration { allowedAt.rest(at: now) }
}

/// The code that a provider is being asked about, and those that wait for their turn.
package struct CodeQueue: Sendable, Equatable {
  /// How many different codes may wait: more are no people.
  static let limit = 16

  /// The code that the provider is being asked about.
  package private(set) var current: CodeGuess
  private var waiting: [CodeGuess] = []

  /// A queue of one code.
  init(_ guess: CodeGuess) { current = guess }

  /// The callers that wait with a code, those of the current one first.
  package var callers: [CallerID] { current.callers + waiting.flatMap(\.callers) }

  /// Adds a code; the same one shares its answer.
  ///
  /// - Returns: false where too many wait.
  mutating func add(_ guess: CodeGuess) -> Bool {
    if current.isSame(as: guess) {
      current.callers += guess.callers
    } else if let same = waiting.firstIndex(where: { $0.isSame(as: guess) }) {
      waiting[same].callers += guess.callers
    } else {
      guard waiting.count < Self.limit else { return false }
      waiting.append(guess)
    }
    return true
  }

  /// Forgets a caller, and with the last caller of a code that code, unless the provider is being asked about it.
  mutating func forget(_ caller: CallerID) {
    current.callers.removeAll { $0 == caller }
    for index in waiting.indices { waiting[index].callers.removeAll { $0 == caller } }
    waiting.removeAll { $0.callers.isEmpty }
  }

  /// Takes out the callers of the current code: they are answered.
  mutating func takeCurrentCallers() -> [CallerID] {
    defer { current.callers = [] }
    return current.callers
  }

  /// Goes on to the next code.
  ///
  /// - Returns: false where none waits.
  mutating func advance() -> Bool {
    guard !waiting.isEmpty else { return false }
    current = waiting.removeFirst()
    return true
  }
}
