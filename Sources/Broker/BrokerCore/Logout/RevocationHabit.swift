/// How much ends at a provider with a token that is revoked: RFC 7009, section 2.1, leaves that to the provider.
package enum RevocationHabit: String, Sendable, CaseIterable {
  /// The session that the token is of, and no other.
  case token
  /// All that its user has granted to the client, other sessions included.
  case grant
  /// Nothing: the provider is not asked.
  case none
}
