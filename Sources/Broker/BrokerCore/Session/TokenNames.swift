/// What the last tokens for other targets were given for, by their names.
///
/// Clients may report a token when its session is over, or is another one: so this outlives the session.
struct TokenNames: Sendable {
  /// How many are known: the present token of each target, and the one before it.
  static let most = 2 * OtherTokens.most

  private var names: [(id: String, target: TokenTarget)] = []

  /// Notes what a token of this name was given for.
  mutating func note(_ id: String, _ target: TokenTarget) {
    names.removeAll { $0.id == id }
    names.append((id, target))
    if names.count > Self.most { names.removeFirst() }
  }

  /// What a token of this name was given for; nil for one that is not known, or is the session's own.
  func target(of id: String) -> TokenTarget? { names.first { $0.id == id }?.target }
}
