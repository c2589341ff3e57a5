package import BrokerCore
import BrokerProtocol
package import SecretMemory

/// Sessions and their tokens.
extension RESTProvider: RevocationProvider {
  /// Spends the refresh token; it is sent once.
  ///
  /// - Throws: `.sessionEnded(.refreshRejected)` where the backend itself refuses the token for good;
  ///   `.outcomeUnknown` where the reply was lost; `.refused(.reauthRequired)` where a code is wanted instead;
  ///   `.transient` for everything else.
  package func refresh(_ refreshToken: Secret) async throws(ProviderFailure) -> TokenSet {
    let reply = try await publicCaller.ask(.refresh, [(.refreshToken, .secret(refreshToken))])
    let reading = try await reply.read { reader throws(SecretMemoryExhausted) -> ReplyReader.Reading?? in
      // A challenge has no place in a refresh: the user must log in again.
      if reader.asksForCode { return .some(nil) }
      return try reader.reading().map { .some($0) }
    }
    switch reading {
    case .tokens(let tokens): return tokens
    case .rotated(let rotated): throw .rotated(rotated)
    case nil: throw .refused(.reauthRequired)
    }
  }

  /// The end of a session is the end of that session only.
  package var revokesWholeGrants: Bool { false }

  /// Ends the session at the backend, in the way that the mapping says.
  ///
  /// - Throws: `.refused` where the backend does not know the token any more; `.unsupported`; `.transient`;
  ///   `.outcomeUnknown`.
  package func revoke(_ tokens: TokenSet, everywhere: Bool) async throws(ProviderFailure) {
    var values: [(RESTEndpoint.Field, RequestFields.Value)] = []
    if everywhere { values.append((.everywhere, .constant(.flag(true)))) }
    switch (mapping.revokeStyle, tokens.refreshToken) {
    case (.bearer, _), (.body, nil):
      try await sessionCaller.ask(.logout, values, bearer: tokens.accessToken).expectSuccess()
    case (.body, let refreshToken?):
      values.append((.refreshToken, .secret(refreshToken)))
      try await publicCaller.ask(.logout, values).expectSuccess()
    case (.rfc7009, let refreshToken):
      let token = refreshToken ?? tokens.accessToken
      let hint = refreshToken == nil ? "access_token" : "refresh_token"
      try await publicCaller.ask(
        .logout, values, extra: [("token", .secret(token)), ("token_type_hint", .text(hint))], encoding: .form
      ).expectSuccess()
    }
  }
}
