package import BrokerCore
import BrokerProtocol
package import HTTP
import LinuxSystem
import Synchronization

/// Sends the requests of a profile's clients: each once, with the token attached here.
package struct ProfileRequests: APISender {
  private let transport: AuthenticatedTransport

  /// A sender; an API is trusted by the system's authorities and those of the network section, since it need not be the
  /// provider's own server.
  package init(_ transport: AuthenticatedTransport) { self.transport = transport }

  /// How often a request is sent at most: with a token that is bound to a key, its server may demand a nonce first.
  private static let mostSendings = 3

  package func send(_ request: APIRequest, with loan: LentToken) async throws(ProviderFailure) -> APIAnswer {
    var nonce: String?
    for _ in 1..<Self.mostSendings {
      let (head, body) = try await sendOnce(request, with: loan, nonce)
      nonce = AuthenticatedTransport.demandedNonce(in: head)
      guard nonce != nil, loan.token.kind == .proven else { return try Self.answer(head, body, to: request, loan) }
    }
    let (head, body) = try await sendOnce(request, with: loan, nonce)
    return try Self.answer(head, body, to: request, loan)
  }

  private func sendOnce(
    _ request: APIRequest, with loan: LentToken, _ nonce: String?
  ) async throws(ProviderFailure) -> (HTTPResponse, [UInt8]) {
    let outgoing: HTTPRequest
    let upload: HTTPUpload?
    do throws(HTTPFailure) {
      (outgoing, upload) = try Self.prepared(request)
    } catch { throw .refused(.invalidParams) }
    let collector = AnswerCollector(limit: SendRequest.mostBytes)
    let stream = try transport.stream(
      outgoing, upload, with: loan, nonce: nonce, stillness: request.timeout, to: collector)
    do throws(HTTPFailure) { return (try await stream.run(), collector.body) } catch .responseTooLarge {
      throw .rejected(ProviderRejection(.invalidResponse))
    } catch { throw ProviderFailure(error) }
  }

  private static func answer(
    _ head: HTTPResponse, _ body: [UInt8], to request: APIRequest, _ loan: LentToken
  ) throws(ProviderFailure) -> APIAnswer {
    guard let body = decoded(body, of: head) else {
      throw .rejected(ProviderRejection(.invalidResponse))
    }
    let echo = SecretEcho(of: loan.token.value)
    // The length of what a GET would bring; elsewhere it is that of a body which may have become another.
    let fields = head.fields.filter {
      !isWithheld($0.name) || request.method == .head && $0.name == "content-length"
    }
    return APIAnswer(
      status: head.status,
      headers: HeaderFields(
        fields.map { HeaderFields.Field(echo.removed(from: $0.name), echo.removed(from: $0.value)) }),
      body: echo.removed(from: body), retryAfter: head.retryAfter(now: WallClock.milliseconds / 1000))
  }

  private static let contentType = "content-type"

  /// The body as it was before it was encoded: no request asks for that, and some servers do it all the same.
  ///
  /// - Returns: nil for an encoding that cannot be undone: the token could be in there.
  private static func decoded(_ body: [UInt8], of head: HTTPResponse) -> [UInt8]? {
    switch head.field("content-encoding")?.lowercased() ?? "identity" {
    case "identity": body
    case _ where body.isEmpty: body
    case "gzip", "x-gzip", "deflate": Gzip.unpacked(body, limit: SendRequest.mostBytes)
    default: nil
    }
  }

  /// Whether a field of an answer is for the connection, or sets a cookie, which is not kept.
  private static func isWithheld(_ name: String) -> Bool {
    APIRequest.isReserved(name) || name.hasPrefix("set-cookie") || name == "content-encoding"
  }

  private static func prepared(_ request: APIRequest) throws(HTTPFailure) -> (HTTPRequest, HTTPUpload?) {
    guard let method = HTTPRequest.Method(rawValue: request.method.rawValue) else { throw .invalidField }
    var (fields, type): ([HTTPField], String?) = ([], nil)
    for field in request.fields {
      if field.name.lowercased() == contentType {
        type = field.value
      } else {
        fields.append(try HTTPField(field.name, field.value))
      }
    }
    if !request.fields.contains(where: { $0.name.lowercased() == "accept" }) {
      fields.append(try HTTPField("Accept", "*/*"))
    }
    let outgoing = HTTPRequest(method, try HTTPURL(request.url), fields: fields, purpose: "request")
    let upload = try request.body.map { body throws(HTTPFailure) in
      try HTTPUpload(HeldBody(body), count: body.count, contentType: type)
    }
    return (outgoing, upload)
  }
}

/// A body that is held as a whole.
private final class HeldBody: BodySource {
  private let bytes: [UInt8]
  private let position = Mutex(0)

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func fill(_ room: inout OutputSpan<UInt8>) -> Bool {
    position.withLock { position in
      let end = min(bytes.count, position + room.freeCapacity)
      while position < end {
        room.append(bytes[position])
        position += 1
      }
      return position < bytes.count
    }
  }
}

/// Takes an answer that is wanted whole, up to a limit.
private final class AnswerCollector: ResponseSink, Sendable {
  private let limit: Int
  private let collected = Mutex<[UInt8]>([])

  init(limit: Int) { self.limit = limit }

  var body: [UInt8] { collected.withLock { $0 } }

  func begin(_ head: HTTPResponse) {}

  func take(_ piece: Span<UInt8>) -> PieceAnswer {
    collected.withLock { body in
      guard piece.count <= limit - body.count else { return .tooMuch }
      // The span is not kept; an array copies faster from a buffer than byte by byte.
      unsafe piece.withUnsafeBufferPointer { unsafe body.append(contentsOf: $0) }
      return .taken
    }
  }
}
