/// What an answer with a token says beside the token.
package struct TokenMarks: Sendable, Hashable {
  /// Whether the provider cannot be reached, as the session's state says to everyone.
  package var isOffline: Bool
  /// Whether the caller wanted the token to live for longer than can be relied on.
  package var isCapped: Bool

  package init(isOffline: Bool = false, isCapped: Bool = false) {
    self.isOffline = isOffline
    self.isCapped = isCapped
  }
}
