import BrokerCore
import BrokerProtocol
import HTTP
import JSONRPC
import RemoteProvider
import SecretMemory

/// What a service answered, and what is to be made of it.
struct FirebaseReply {
  /// What was asked.
  let call: FirebaseCall
  /// Whether an ID token was sent along.
  let carriesToken: Bool
  private let response: HTTPResponse
  private let moments: ReplyMoments

  /// How deep a reply may be nested: many times as deep as any that is understood.
  private static let limits = JSONLimits(depth: 64, byteCount: 1 << 20, toleratesLargeNumbers: true)

  /// A reply as it came.
  init(
    _ call: FirebaseCall, carriesToken: Bool, _ response: HTTPResponse, sentAt: Timestamp, receivedAt: Timestamp
  ) {
    self.call = call
    self.carriesToken = carriesToken
    self.response = response
    moments = ReplyMoments(response, sentAt: sentAt, receivedAt: receivedAt)
  }

  /// Reads the object of a success.
  ///
  /// Nothing that `body` returns may refer to the reply's bytes: they are wiped when the reply is gone.
  ///
  /// - Parameter body: gets the reader; returns nil where what must be there is not.
  /// - Returns: what `body` returns.
  /// - Throws: what ``FirebaseRefusal`` says of other statuses; `invalidResponse` for what is no JSON object, or lacks what
  ///   must be there; for a refresh what ``ProviderFailure/unusable(_:isCut:hasToken:)`` says; `.outcomeUnknown` for a
  ///   code, which may be used up then.
  func read<R>(_ body: (FirebaseReader) -> R?) throws(ProviderFailure) -> R {
    guard response.status == 200 else { throw failure }
    var hasToken = false
    let result = response.body.withArray { bytes -> Result<R?, JSONError> in
      Result { () throws(JSONError) in try JSONDocument(parsing: bytes, limits: Self.limits).root }
        .map { root in
          guard root.kind == .object else { return nil }
          let reader = FirebaseReader(root: root, moments: moments)
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
    switch call {
    case .token: .unusable(response, isCut: isCut, hasToken: hasToken)
    // The service may have used the code up, and answered with a session that cannot be read.
    case .finishSecondFactor: .outcomeUnknown(.invalidResponse)
    default: .refused(.invalidResponse)
    }
  }

  /// Makes sure that it is a success, of which nothing is wanted.
  ///
  /// - Throws: as ``read(_:)``.
  func expectSuccess() throws(ProviderFailure) {
    try read { _ in () }
  }

  /// What it means that it is no success.
  private var failure: ProviderFailure {
    let names = response.body.withArray { bytes -> FirebaseRefusal.Names? in
      guard let root = try? JSONDocument(parsing: bytes, limits: Self.limits).root else { return nil }
      return FirebaseRefusal.Names(root)
    }
    let refusal = FirebaseRefusal(
      status: response.status, names: names,
      retryAfter: response.retryAfter(now: moments.receivedAt.milliseconds / 1000))
    return refusal.failure(call, carriesToken: carriesToken)
  }
}
