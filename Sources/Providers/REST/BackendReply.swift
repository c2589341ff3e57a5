import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import RESTDialect
import RemoteProvider
import SecretMemory

/// What a backend answered, and what is to be made of it.
struct BackendReply {
  /// What was asked.
  let name: RESTEndpoint.Name
  private let response: HTTPResponse
  private let mapping: RESTMapping
  private let moments: ReplyMoments

  /// How deep a reply may be nested: eight times as deep as any that is understood.
  ///
  /// An absurd number is no reason to lose the tokens beside it.
  static let limits = JSONLimits(depth: 64, byteCount: 1 << 20, toleratesLargeNumbers: true)

  /// A reply as it came.
  init(
    _ name: RESTEndpoint.Name, _ response: HTTPResponse, _ mapping: RESTMapping, sentAt: Timestamp,
    receivedAt: Timestamp
  ) {
    self.name = name
    self.response = response
    self.mapping = mapping
    moments = ReplyMoments(response, sentAt: sentAt, receivedAt: receivedAt)
  }

  /// Whether it is a success (RFC 9110, section 15.3) with a whole body: 206 is a part of one.
  private var isSuccess: Bool { (200..<300).contains(response.status) && response.status != 206 }

  /// Whether the backend failed in a way that may pass, and has not asked for patience.
  var isWorthAnotherTry: Bool {
    (500...504).contains(response.status) && response.status != 501 && response.field("retry-after") == nil
  }

  /// Reads the object of a success; where the locked memory has no room for what is secret in it, again when it has.
  ///
  /// Nothing that `body` returns may refer to the reply's bytes: they are wiped when the reply is gone.
  ///
  /// - Parameter body: gets the reader; returns nil where what must be there is not.
  /// - Returns: what `body` returns.
  /// - Throws: what the table of refusals says of other statuses; `invalidResponse` for what is no JSON object, or lacks
  ///   what must be there; for a refresh what ``ProviderFailure/unusable(_:)`` says; `.outcomeUnknown` for a code, which
  ///   may be used up then; `.outcomeUnknown` where there was no room for long.
  func read<R>(_ body: (ReplyReader) throws(SecretMemoryExhausted) -> R?) async throws(ProviderFailure) -> R {
    guard isSuccess else { throw failure }
    let patience = name == .refresh ? ProviderFailure.refreshPatience : ProviderFailure.interactivePatience
    let found = try await SecretArena.withRoomForReply(patience: patience) { () throws(SecretMemoryExhausted) -> R? in
      try response.body.withArray { bytes throws(SecretMemoryExhausted) -> R? in
        guard let root = try? JSONDocument(parsing: bytes, limits: Self.limits).root, root.kind == .object else {
          return nil
        }
        return try body(reader(root))
      }
    }
    guard let found else { throw unusable }
    return found
  }

  /// What a reply is in which nothing was found.
  private var unusable: ProviderFailure {
    if name == .refresh { return .unusable(response) }
    // The backend may have used the code up, and answered with a session that cannot be read.
    return name.spendsCode && !isDenied ? .outcomeUnknown(.invalidResponse) : .refused(.invalidResponse)
  }

  /// Whether a success says in its body that it is none.
  private var isDenied: Bool {
    response.body.withArray { bytes in
      guard let root = try? JSONDocument(parsing: bytes, limits: Self.limits).root else { return false }
      return root["success"]?.kind == .false || root["error"].map { !$0.isNull } ?? false
    }
  }

  /// Makes sure that it is a success, of which nothing is wanted.
  ///
  /// - Throws: as ``read(_:)``; a page for people is no success, and neither is an object that says `success: false` or
  ///   `error`.
  func expectSuccess() throws(ProviderFailure) {
    guard isSuccess else { throw failure }
    guard form != .html else { throw .transient(.invalidResponse) }
    guard !isDenied else { throw .refused(.invalidResponse) }
  }

  /// Whether the success has nothing to read.
  var isEmpty: Bool { form == .empty }

  /// A reader of a reply that says nothing.
  var empty: ReplyReader? {
    (try? JSONDocument(parsing: Array("{}".utf8))).map { reader($0.root) }
  }

  private func reader(_ root: JSONNode) -> ReplyReader {
    ReplyReader(root: root, paths: mapping.reply, moments: moments)
  }

  /// What it means that it is no success.
  private var failure: ProviderFailure {
    var refusal = Refusal(status: response.status, form: form)
    refusal.retryAfter = response.retryAfter(now: moments.receivedAt.milliseconds / 1000)
    if refusal.form == .json {
      response.body.withArray { bytes in
        guard let document = try? JSONDocument(parsing: bytes, limits: Self.limits) else {
          refusal.form = .other
          return
        }
        refusal.read(reader(document.root), mapping.errors)
      }
    }
    return RefusalTable.failure(refusal, name, mapping)
  }

  /// What the body seems to be; JSON must also be JSON to its end.
  private var form: BodyForm { BodyForm(response) }
}
