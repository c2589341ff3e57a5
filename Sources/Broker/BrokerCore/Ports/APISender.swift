package import BrokerProtocol

/// Sends requests of clients to APIs with a profile's token.
package protocol APISender: Sendable {
  /// Sends a request once, and waits for its answer, whatever its status.
  ///
  /// Nothing of the answer has the token, and it has no fields of the connection and no cookies.
  ///
  /// - Throws: `.refused(.invalidParams)` for an address that cannot be sent; `.rejected` of the kind `invalidResponse` where
  ///   the answer is too long or in an encoding that was not asked for.
  func send(_ request: APIRequest, with loan: LentToken) async throws(ProviderFailure) -> APIAnswer
}

/// A token for one request, and how it is presented.
package struct LentToken: Sendable {
  /// The token.
  package let token: BoundToken
  /// Makes proofs, where it is bound to a key; nil for a provider that has no such tokens.
  package let prover: (any ProofProvider)?
  /// The field that carries a secret of the configuration; nil for `Authorization`, by the kind of the token.
  package let field: ConfiguredField?

  /// A token of a provider.
  package init(_ token: BoundToken, prover: (any ProofProvider)? = nil, in field: ConfiguredField? = nil) {
    (self.token, self.prover, self.field) = (token, prover, field)
  }
}

/// The answer of an API.
package struct APIAnswer: Sendable, Equatable {
  /// The status (RFC 9110, section 15).
  package var status: Int
  /// The header fields.
  package var headers: HeaderFields
  /// The body.
  package var body: [UInt8]
  /// How long the API wants to be left alone; nil where it does not say.
  package var retryAfter: Duration?

  /// An answer of these members.
  package init(status: Int, headers: HeaderFields, body: [UInt8], retryAfter: Duration? = nil) {
    (self.status, self.headers, self.body, self.retryAfter) = (status, headers, body, retryAfter)
  }
}

/// The requests that a profile's clients may have sent.
package struct RequestSettings: Sendable {
  /// The rules.
  package var rules: RequestRules
  /// The sender.
  package var sender: any APISender

  /// Requests by these rules.
  package init(_ rules: RequestRules, _ sender: any APISender) { (self.rules, self.sender) = (rules, sender) }
}
