import BrokerCore
import BrokerProtocol
import HTTP
import JSONRPC
import OIDCDialect
import RemoteProvider

/// What an endpoint answered, and what is to be made of it.
struct OAuthReply {
  /// What was asked for.
  let purpose: OAuthPurpose
  private let response: HTTPResponse
  private let quirks: OIDCQuirks
  private let moments: ReplyMoments

  /// How deep a reply may be nested: eight times as deep as any that is understood.
  ///
  /// An absurd number is no reason to lose the tokens beside it.
  private static let limits = JSONLimits(depth: 64, byteCount: 1 << 20, toleratesLargeNumbers: true)
  /// The longest name of an error that is looked at.
  private static let longestCode = 64

  /// A reply as it came.
  init(
    _ purpose: OAuthPurpose, _ response: HTTPResponse, _ quirks: OIDCQuirks, sentAt: Timestamp, receivedAt: Timestamp
  ) {
    self.purpose = purpose
    self.response = response
    self.quirks = quirks
    moments = ReplyMoments(response, sentAt: sentAt, receivedAt: receivedAt)
  }

  /// Whether it is a success (RFC 9110, section 15.3) with a whole body: 206 is a part of one.
  private var isSuccess: Bool { (200..<300).contains(response.status) && response.status != 206 }

  /// Whether there is no such endpoint (RFC 9110, sections 15.5.5, 15.5.6 and 15.5.11).
  var isNowhere: Bool { [404, 405, 410].contains(response.status) }

  /// Reads the object of a success.
  ///
  /// Nothing that `body` returns may refer to the reply's bytes: they are wiped when the reply is gone.
  ///
  /// - Parameter body: gets the reader; returns nil where what must be there is not.
  /// - Returns: what `body` returns.
  /// - Throws: what ``OAuthRefusal/failure(_:)`` says of other statuses; `invalidResponse` for what is no JSON object, or
  ///   lacks what must be there; for a refresh what ``ProviderFailure/unusable(_:isCut:hasToken:)`` says; `.outcomeUnknown`
  ///   for a code, which may be used up then.
  func read<R>(_ body: (TokenReader) -> R?) throws(ProviderFailure) -> R {
    if let refusal { throw refusal.failure(purpose) }
    var hasToken = false
    let result = response.body.withArray { bytes -> Result<R?, JSONError> in
      Result { () throws(JSONError) in try JSONDocument(parsing: bytes, limits: Self.limits).root }
        .map { root in
          guard root.kind == .object else { return nil }
          let reader = TokenReader(root: root, quirks: quirks, moments: moments)
          hasToken = reader.hasRefreshToken
          return body(reader)
        }
    }
    switch result {
    case .success(let found?): return found
    case .success: throw unusable(isCut: false, hasToken)
    case .failure(let error): throw unusable(isCut: error.reason == .unexpectedEnd, response.mentions("refresh_token"))
    }
  }

  private func unusable(isCut: Bool, _ hasToken: Bool) -> ProviderFailure {
    if purpose.spendsRefreshToken { return .unusable(response, isCut: isCut, hasToken: hasToken) }
    return purpose.spendsLoginCredential ? .outcomeUnknown(.invalidResponse) : .refused(.invalidResponse)
  }

  /// Makes sure that it is a success, of which nothing is wanted.
  ///
  /// - Throws: as ``read(_:)``; a page for people is no success, but a reply of nothing is one, whatever it is labelled
  ///   (RFC 7009, section 2.2: the body says nothing).
  func expectSuccess() throws(ProviderFailure) {
    if let refusal { throw refusal.failure(purpose) }
    guard form != .html else { throw .transient(.invalidResponse) }
  }

  /// What the provider refuses; nil for a success.
  ///
  /// Its code is in the words of the specifications, whatever the provider calls it.
  var refusal: OAuthRefusal? {
    if isSuccess, !quirks.answersErrorsWithSuccess { return nil }
    var refusal = OAuthRefusal(
      status: response.status, form: form, retryAfter: response.retryAfter(now: moments.receivedAt.milliseconds / 1000))
    refusal.isErrorWithSuccess = isSuccess
    // Some label what they refuse beside the session as a page; to believe the name in it ends nothing.
    if refusal.form == .json || purpose == .narrow {
      response.body.withArray { bytes in
        guard let root = try? JSONDocument(parsing: bytes, limits: Self.limits).root, root.kind == .object else {
          if refusal.form == .json { refusal.form = .other }
          return
        }
        refusal.code = root["error"].flatMap { try? $0.string() }.flatMap(ownWord)
      }
    }
    return isSuccess && refusal.code == nil ? nil : refusal
  }

  /// The member of a refusal's object; nil where there is none.
  func member<R>(_ name: String, _ body: (JSONNode) -> R?) -> R? {
    response.body.withArray { bytes in
      (try? JSONDocument(parsing: bytes, limits: Self.limits))?.root[name].flatMap(body)
    }
  }

  private func ownWord(_ code: String) -> String? {
    guard (1...Self.longestCode).contains(code.utf8.count) else { return nil }
    return quirks.errorNames[code] ?? code
  }

  /// What the body seems to be; JSON must also be JSON to its end.
  private var form: BodyForm { BodyForm(response) }
}
