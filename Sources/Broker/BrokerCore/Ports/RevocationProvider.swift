/// A provider that can be told that tokens are not used any more (RFC 7009).
package protocol RevocationProvider: Sendable {
  /// What else ends with a session's tokens, as far as that is known without having seen it; nil where it is not.
  var habit: RevocationHabit? { get }

  /// Ends the session at the provider; `everywhere` ends all sessions of its user.
  func revoke(_ tokens: TokenSet, everywhere: Bool) async throws(ProviderFailure)
}
