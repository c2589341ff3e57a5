import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import ProviderKit
import SecretMemory

/// A service's reply, and its interpretation.
struct FirebaseReply {
  /// The call.
  let call: FirebaseCall
  /// Whether an ID token was sent along.
  let carriesToken: Bool
  private let response: HTTPResponse
  private let moments: ReplyMoments

  /// The limits of a reply: many times as deep as any that is understood.
  private static let limits = JSONLimits(depth: 64, byteCount: 1 << 20, toleratesLargeNumbers: true)

  private static let tokens = VitalMembers([], accessToken: [["id_token"]], refreshToken: [["refresh_token"]])

  /// A reply as it came.
  init(
    _ call: FirebaseCall, carriesToken: Bool, _ response: HTTPResponse, sentAt: Timestamp, receivedAt: Timestamp
  ) {
    self.call = call
    self.carriesToken = carriesToken
    self.response = response
    moments = ReplyMoments(response, sentAt: sentAt, receivedAt: receivedAt)
  }

  /// Reads the object of a success; where the locked memory has no room for what is secret in it, again when it has.
  ///
  /// Nothing that `body` returns may refer to the reply's bytes: they are wiped when the reply is gone.
  ///
  /// - Parameter body: gets the reader; returns nil where what must be there is not.
  /// - Returns: what `body` returns.
  /// - Throws: what ``FirebaseRefusal`` says of other statuses; `invalidResponse` for what is no JSON object, or lacks what
  ///   must be there; for a refresh what ``ProviderFailure/unusable(_:_:)`` says; `.outcomeUnknown` for a code, which
  ///   may be used up then; `.outcomeUnknown` where there was no room for long.
  func read<R>(_ body: (FirebaseReader) throws(SecretMemoryExhausted) -> R?) async throws(ProviderFailure) -> R {
    let isSuccess = response.status == 200
    let patience = call == .token ? ProviderFailure.refreshPatience : ProviderFailure.interactivePatience
    let found = try await SecretArena.withRoomForReply(patience: patience) { () throws(SecretMemoryExhausted) -> R? in
      try response.body.withArray { bytes throws(SecretMemoryExhausted) -> R? in
        guard let root = try? JSONDocument(parsing: bytes, limits: Self.limits).root, root.kind == .object else {
          return nil
        }
        let reader = FirebaseReader(root: root, moments: moments)
        if !isSuccess, try !givesSession(reader) { return nil }
        return try body(reader)
      }
    }
    guard let found else { throw isSuccess ? unusable : failure }
    return found
  }

  /// Whether an object that came with another status than a success has tokens and no error: they were issued, whatever
  /// failed after that.
  private func givesSession(_ reader: FirebaseReader) throws(SecretMemoryExhausted) -> Bool {
    guard call.givesSession, reader.root["error"] == nil else { return false }
    return try reader.tokens()?.refreshToken != nil
  }

  /// The failure for a reply in which nothing was found.
  private var unusable: ProviderFailure {
    switch call {
    case .token: .unusable(response, Self.tokens)
    // The service may have used the code up, and answered with a session that cannot be read.
    case .finishSecondFactor: .outcomeUnknown(.invalidResponse)
    // A page in the place of an answer is a network's that wants a login first.
    default: BodyForm(response) == .html ? .transient(.invalidResponse) : .refused(.invalidResponse)
    }
  }

  /// Makes sure that it is a success, of which nothing is wanted.
  ///
  /// - Throws: as ``read(_:)``.
  func expectSuccess() async throws(ProviderFailure) {
    try await read { _ in () }
  }

  /// The failure for a reply that is no success.
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
