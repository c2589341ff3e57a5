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
