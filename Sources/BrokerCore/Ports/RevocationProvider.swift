/// A provider that can be told that tokens are not used any more (RFC 7009).
package protocol RevocationProvider: Sendable {
  /// Whether the end of one session's tokens may end other sessions of the same user, too.
  ///
  /// RFC 7009, section 2.1, leaves it to the provider how much of a grant goes with a token: many end all that the user has
  /// granted to the client.
  var revokesWholeGrants: Bool { get }

  /// Ends the session at the provider; `everywhere` ends all sessions of its user.
  func revoke(_ tokens: TokenSet, everywhere: Bool) async throws(ProviderFailure)
}
