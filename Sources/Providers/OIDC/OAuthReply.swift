import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import ProviderKit
import SecretMemory

/// An endpoint's reply, and its interpretation.
struct OAuthReply {
  /// The purpose of the request.
  let purpose: OAuthPurpose
  private let response: HTTPResponse
  private let quirks: OIDCQuirks
  private let sentBasic: Bool
  private let moments: ReplyMoments
  private let key: ProofKey?

  /// The members that a session depends on (RFC 6749, sections 5.1 and 5.2).
  private static let vital = VitalMembers(
    ["id_token", "token_type", "expires_in", "error"].map { [$0] }, accessToken: [["access_token"]],
    refreshToken: [["refresh_token"]])
  /// The longest name of an error that is examined.
  private static let longestCode = 64
  /// A reply as it came.
  ///
  /// - Parameters:
  ///   - purpose: what was asked for.
  ///   - response: the reply.
  ///   - quirks: where the provider differs.
  ///   - sentBasic: whether the client made itself known in the header (RFC 6749, section 2.3.1).
  ///   - sentAt: when the request left.
  ///   - receivedAt: when the reply came.
  ///   - key: the key that the tokens must be bound to; nil for none.
  init(
    _ purpose: OAuthPurpose, _ response: HTTPResponse, _ quirks: OIDCQuirks, sentBasic: Bool = false,
    sentAt: Timestamp, receivedAt: Timestamp, key: ProofKey? = nil
  ) {
    self.key = key
    self.sentBasic = sentBasic
    self.purpose = purpose
    self.response = response
    self.quirks = quirks
    moments = ReplyMoments(response, sentAt: sentAt, receivedAt: receivedAt)
  }

  private var isSuccess: Bool { response.isWholeSuccess }

  /// The part that is about the request's proof of possession.
  var proofAnswer: ProofAnswer {
    ProofAnswer(response, code: isSuccess ? nil : refusal?.code, clockSkew: moments.clockSkew)
  }

  /// Whether there is no such endpoint (RFC 9110, sections 15.5.5, 15.5.6 and 15.5.11).
  var isNowhere: Bool { [404, 405, 410].contains(response.status) }

  /// Reads the object of a success; where the locked memory has no room for its secrets, again once it has.
  ///
  /// Nothing that `body` returns may refer to the reply's bytes: they are wiped when the reply is gone.
  ///
  /// - Parameter body: gets the reader; returns nil where what must be there is not.
  /// - Returns: what `body` returns.
  /// - Throws: what `Refusal.failure` says of other statuses; `invalidResponse` for what is no JSON object, or
  ///   lacks what must be there; for a refresh what ``ProviderFailure/unusable(_:_:)`` says; `.outcomeUnknown` for a
  ///   code, which may be used up then; `.outcomeUnknown` where there was no room for long.
  func read<R>(_ body: (TokenReader) throws(SecretMemoryExhausted) -> R?) async throws(ProviderFailure) -> R {
    if let refusal { throw refusal.failure(purpose, quirks) }
    guard let found = try await found(body) else { throw unusable }
    return found
  }

  /// Reads the tokens of a success, or of a reply that has another status without a refusal.
  ///
  /// - Parameter asked: the scopes that hold where the provider names none.
  /// - Returns: the tokens.
  /// - Throws: as ``read(_:)``; `.rotated` where only a refresh token can be used; `.rejected` for a token of a type that
  ///   cannot be used.
  func tokens(asked: [String] = []) async throws(ProviderFailure) -> TokenSet {
    if !isSuccess, let tokens = try await tokensDespiteStatus(asked) { return tokens }
    switch try await read({ reader throws(SecretMemoryExhausted) in try reader.reading(asked: asked) }) {
    case .tokens(let tokens): return tokens.bound(to: key)
    case .rotated(var rotated):
      if let key { rotated.refreshToken = rotated.refreshToken.bound(to: key) }
      throw .rotated(rotated)
    case .nothing(let rejection): throw .rejected(rejection)
    }
  }

  /// The tokens of an object that came with another status than a success, and without a word of refusal: the provider
  /// has issued them and may have ended the ones before, whatever failed after that.
  private func tokensDespiteStatus(_ asked: [String]) async throws(ProviderFailure) -> TokenSet? {
    guard form != .empty else { return nil }
    return try await found { reader throws(SecretMemoryExhausted) in
      guard !RefusalWords.areIn(reader.root), case .tokens(let tokens) = try reader.reading(asked: asked),
        tokens.refreshToken != nil || !purpose.spendsRefreshToken
      else { return nil }
      return tokens.bound(to: key)
    }
  }

  /// Runs a body over the reply, once there is memory for the secrets that it finds.
  private func found<R>(
    _ body: (TokenReader) throws(SecretMemoryExhausted) -> R?
  ) async throws(ProviderFailure) -> R? {
    let patience =
      purpose.spendsRefreshToken ? ProviderFailure.refreshPatience : ProviderFailure.interactivePatience
    return try await SecretArena.withRoomForReply(patience: patience) { () throws(SecretMemoryExhausted) in
      try withRoot { root throws(SecretMemoryExhausted) in
        try body(
          TokenReader(
            root: root, quirks: quirks, moments: moments, takesSubjects: purpose == .exchange, isBound: key != nil))
      }
    }
  }

  /// The failure for a reply in which nothing was found.
  private var unusable: ProviderFailure {
    if purpose.spendsRefreshToken { return .unusable(response, Self.vital) }
    if purpose == .device {
      // The code is spent, and will bring nothing more; a page is a network's that wants a login first.
      return form == .html ? .transient(.invalidResponse) : .rejected(ProviderRejection(.invalidResponse))
    }
    return purpose.spendsLoginCredential ? .outcomeUnknown(.invalidResponse) : .refused(.invalidResponse)
  }

  /// Lends the object of the body; nil where it is none.
  private func withRoot<R>(
    _ body: (JSONNode) throws(SecretMemoryExhausted) -> R?
  ) throws(SecretMemoryExhausted) -> R? {
    try response.body.withArray { bytes throws(SecretMemoryExhausted) in
      try ReplyObject.withRoot(of: bytes, Self.vital, body)
    }
  }

  /// Makes sure that it is a success, of which nothing is wanted.
  ///
  /// - Throws: as ``read(_:)``; a page for people is no success, but a reply of nothing is one, whatever it is labelled
  ///   (RFC 7009, section 2.2: the body says nothing).
  func expectSuccess() throws(ProviderFailure) {
    if let refusal { throw refusal.failure(purpose, quirks) }
    guard form != .html else { throw .transient(.invalidResponse) }
  }

  /// The refusal; nil for a success.
  ///
  /// An object with an error and without an access token is a refusal, whatever its status. Its code is in the words of the
  /// specifications, whatever the provider calls it.
  var refusal: Refusal? {
    var refusal = Refusal(response, at: moments.receivedAt, sentBasic: sentBasic)
    if isSuccess || refusal.form == .json || purpose == .device {
      refusal.read(response, Self.vital) { root, refusal in
        refusal.isWithSuccess = isSuccess && isRefusal(root, refusal.words)
        refusal.code = RefusalWords.texts("error", root).first.flatMap(ownWord)
        if purpose == .device, let code = Self.pollWord(refusal) { refusal.code = code }
      }
    }
    if refusal.form == .other, let form = RefusalForm(response) {
      (refusal.form, refusal.isWithSuccess) = (.json, isSuccess)
      refusal.code = ownWord(form.error)
      refusal.words = RefusalWords(error: form.error, description: form.description)
    }
    let words = (refusal.code.map { [$0] } ?? []) + refusal.words.keys
    refusal.configuredKind = words.lazy.compactMap { quirks.errorKinds[$0] }.first
    return isSuccess && !refusal.isWithSuccess ? nil : refusal
  }

  /// The answer to a poll, wherever and however that is written (RFC 8628, section 3.5); nil where it says nothing of
  /// it.
  private static func pollWord(_ refusal: Refusal) -> String? {
    let words = ((refusal.code.map { [$0] } ?? []) + refusal.words.names).lazy.map { $0.lowercased() }
    guard let word = words.first(where: pollWords.contains) else { return nil }
    return word == "code_expired" ? "expired_token" : word
  }

  private static let pollWords: Set<String> = [
    "authorization_pending", "slow_down", "expired_token", "code_expired", "access_denied", "authorization_declined",
  ]

  /// Whether a success of a poll means that the user has not finished yet: it is empty, or has a status.
  var isStillPending: Bool {
    guard isSuccess else { return false }
    if form == .empty { return response.status == 202 || response.status == 204 }
    return response.body.withArray { bytes in
      ReplyObject.withRoot(of: bytes, Self.vital) { root -> Bool? in
        guard root["access_token"].map(\.isNull) ?? true else { return false }
        let words = RefusalWords(root).names.lazy.map { $0.lowercased() }
        return words.contains { $0 == "pending" || $0 == "authorization_pending" }
      }
    } ?? false
  }

  private func isRefusal(_ root: JSONNode, _ words: RefusalWords) -> Bool {
    guard root["access_token"].map(\.isNull) ?? true else { return false }
    return RefusalWords.areIn(root) || words.keys.contains { quirks.errorKinds[$0] != nil }
  }

  /// The secret member of a refusal's object; nil where there is none.
  ///
  /// - Throws: `.outcomeUnknown` where there was no room for it for long.
  func secretMember(_ name: String) async throws(ProviderFailure) -> Secret? {
    try await SecretArena.withRoomForReply(patience: ProviderFailure.interactivePatience) {
      () throws(SecretMemoryExhausted) in
      try withRoot { root throws(SecretMemoryExhausted) in try root[name]?.foundSecret() }
    }
  }

  private func ownWord(_ code: String) -> String? {
    guard (1...Self.longestCode).contains(code.utf8.count) else { return nil }
    return quirks.errorNames[code] ?? code
  }

  /// The probable form of the body; JSON must also be JSON to its end.
  private var form: BodyForm { BodyForm(response) }
}
