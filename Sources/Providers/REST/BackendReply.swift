import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import ProviderKit
import SecretMemory

/// A backend's reply, and its interpretation.
struct BackendReply {
  /// The endpoint that was asked.
  let name: RESTEndpoint.Name
  private let response: HTTPResponse
  private let mapping: RESTMapping
  private let sentBasic: Bool
  private let moments: ReplyMoments

  /// A reply as it came.
  init(
    _ name: RESTEndpoint.Name, _ response: HTTPResponse, _ mapping: RESTMapping, sentBasic: Bool = false,
    sentAt: Timestamp, receivedAt: Timestamp
  ) {
    self.sentBasic = sentBasic
    self.name = name
    self.response = response
    self.mapping = mapping
    moments = ReplyMoments(response, sentAt: sentAt, receivedAt: receivedAt)
  }

  private var isSuccess: Bool { response.isWholeSuccess }

  /// Whether the backend failed in a way that may pass, and has not asked for patience.
  var isWorthAnotherTry: Bool {
    (500...504).contains(response.status) && response.status != 501 && response.field("retry-after") == nil
  }

  /// Reads the object of a success; where the locked memory has no room for its secrets, again once it has.
  ///
  /// Nothing that `body` returns may refer to the reply's bytes: they are wiped when the reply is gone.
  ///
  /// - Parameter body: gets the reader; returns nil where what must be there is not.
  /// - Returns: what `body` returns.
  /// - Throws: what the table of refusals says of other statuses; `invalidResponse` for what is no JSON object, or lacks
  ///   what must be there; for a refresh what ``ProviderFailure/unusable(_:_:)`` says; `.outcomeUnknown` for a code,
  ///   which may be used up then; `.outcomeUnknown` where there was no room for long.
  func read<R>(_ body: (ReplyReader) throws(SecretMemoryExhausted) -> R?) async throws(ProviderFailure) -> R {
    let failure = failure
    if let failure, !name.givesSession || form == .empty { throw failure }
    let patience = name == .refresh ? ProviderFailure.refreshPatience : ProviderFailure.interactivePatience
    let found = try await SecretArena.withRoomForReply(patience: patience) { () throws(SecretMemoryExhausted) -> R? in
      try withRoot { root throws(SecretMemoryExhausted) in
        let reader = reader(root)
        if failure != nil, !wantsCode(reader), try !givesSession(reader) { return nil }
        return try body(reader)
      }
    }
    guard let found else { throw failure ?? unusable }
    return found
  }

  /// Whether an object that came with another status than a success has tokens, and no word of refusal: the backend has
  /// issued them and may have ended the ones before, whatever failed after that.
  private func givesSession(_ reader: ReplyReader) throws(SecretMemoryExhausted) -> Bool {
    guard !RefusalWords.areIn(reader.root), !reader.asksForCode, case .tokens(let tokens) = try reader.reading() else {
      return false
    }
    return tokens.refreshToken != nil || name != .refresh
  }

  /// Whether an object that came with a refusal of the backend's own asks for a code, as others do with a success.
  private func wantsCode(_ reader: ReplyReader) -> Bool {
    guard name == .login || name == .refresh || name == .register, (400..<500).contains(response.status),
      ![407, 408, 425, 429].contains(response.status)
    else { return false }
    return reader.asksForCode
  }

  /// The failure for a reply in which nothing was found.
  private var unusable: ProviderFailure {
    if name == .refresh { return .unusable(response, mapping.reply.vital) }
    // The backend may have used the code up, and answered with a session that cannot be read.
    return name.spendsCode ? .outcomeUnknown(.invalidResponse) : .refused(.invalidResponse)
  }

  /// Lends the object of the body; nil where it is none.
  private func withRoot<R, E: Error>(_ body: (JSONNode) throws(E) -> R?) throws(E) -> R? {
    let vital = mapping.reply.vital
    return try response.body.withArray { bytes throws(E) in try ReplyObject.withRoot(of: bytes, vital, body) }
  }

  /// Whether the body of a success is a refusal: `success: false` or an error, and neither tokens nor a challenge.
  private func isRefusal(_ reader: ReplyReader) -> Bool {
    guard RefusalWords.areIn(reader.root) || Refusal.configuredName(reader, mapping.errors) != nil else { return false }
    return !reader.mentionsAccessToken && !reader.asksForCode && !reader.waitsForVerification
  }

  /// Makes sure that it is a success, of which nothing is wanted.
  ///
  /// - Throws: as ``read(_:)``; a page for people is no success.
  func expectSuccess() throws(ProviderFailure) {
    if let failure { throw failure }
    guard form != .html else { throw .transient(.invalidResponse) }
  }

  /// Whether the success has nothing to read.
  var isEmpty: Bool { form == .empty }

  /// A reader of a reply that says nothing.
  var empty: ReplyReader? {
    (try? JSONDocument(parsing: Array("{}".utf8))).map { reader($0.root) }
  }

  private func reader(_ root: JSONNode) -> ReplyReader {
    ReplyReader(root: root, paths: mapping.reply, moments: moments, response: response)
  }

  /// The failure that the reply means, by its status or by its body; nil for a success.
  private var failure: ProviderFailure? {
    var refusal = Refusal(response, at: moments.receivedAt, sentBasic: sentBasic)
    if isSuccess || refusal.form == .json {
      refusal.read(response, mapping.reply.vital) { root, refusal in
        let reader = reader(root)
        refusal.isWithSuccess = isSuccess && isRefusal(reader)
        if !isSuccess || refusal.isWithSuccess { refusal.read(reader, mapping.errors) }
      }
    }
    guard !isSuccess || refusal.isWithSuccess else { return nil }
    return RefusalTable.failure(refusal, name, mapping)
  }

  /// The probable form of the body; JSON must also be JSON to its end.
  private var form: BodyForm { BodyForm(response) }
}
