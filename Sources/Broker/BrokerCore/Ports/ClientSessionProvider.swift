/// A provider that gives sessions to the client itself (RFC 6749, section 4.4).
package protocol ClientSessionProvider: Sendable {
  /// Whether tokens are the client's own: there is no user, and what stands in the refresh token's place is none.
  func areClientsOwn(_ tokens: TokenSet) -> Bool
}
