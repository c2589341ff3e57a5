import BrokerCore
import BrokerProtocol
import HTTP
import HTTPMessage
import LinuxSystem
import ProviderKit
import SecretMemory

/// The time for which a client takes not one byte of what is to be written to it.
struct WriteStall {
  private var since: Duration?

  /// Whether it has taken nothing for as long as the limit.
  ///
  /// - Parameters:
  ///   - hasTaken: whether it has just taken something, or nothing was there.
  ///   - now: the time.
  ///   - limit: how long it may pause.
  /// - Returns: false after each byte that it takes.
  mutating func isOver(hasTaken: Bool, at now: Duration, limit: Duration) -> Bool {
    since = hasTaken ? nil : since ?? now
    return since.map { now - $0 >= limit } ?? false
  }
}

/// One sending of a request, and its answer, as it passes to the client.
struct DoorTransfer {
  /// The end of a sending.
  enum Outcome {
    /// The answer has passed, and the connection can be used again.
    case done
    /// The connection is of no use any more.
    case over
    /// The server refuses the token, with this challenge; nothing was passed on.
    case unauthorized(challenge: String?)
    /// The server demands this nonce for another proof of possession; nothing was passed on.
    case wantsNonce(String)
    /// There is no answer; nothing was passed on.
    case failed(HTTPFailure)
    /// The body of the request is malformed; nothing was passed on.
    case malformed
  }

  /// A server that says nothing for so long is given up: models that think need minutes.
  private static let stillness = Duration.seconds(600)
  /// Fields of an answer that are for the connection, lead a client elsewhere, or set a cookie, which no request brings back.
  private static let withheld: Set = [
    "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-authenticate",
    "proxy-connection", "set-cookie", "set-cookie2", "alt-svc", "content-length",
  ]

  private let request: DoorRequest
  private let flow: DoorFlow
  private let stream: HTTPStream
  private let token: BoundToken
  private var reader: BodyReader?
  /// The bytes that are to be written to the client, and how many of them were.
  private var (pending, written): ([UInt8], Int) = ([], 0)
  private var stall = WriteStall()
  private var hasHead = false
  /// The framing of the answer to the client: in chunks, by a length, or by the end of the connection.
  private var isChunked = false
  private var endsByClosing = false
  private var hasNoBody = false

  /// Prepares a sending.
  ///
  /// - Throws: `.transient` for what cannot be sent; as `ProofProvider.proof(of:for:)`.
  init(
    _ request: DoorRequest, _ held: [UInt8]?, _ loan: LentToken, _ nonce: String?, _ transport: AuthenticatedTransport
  ) throws(ProviderFailure) {
    flow = DoorFlow(held: held)
    let outgoing: HTTPRequest
    var upload: HTTPUpload?
    do throws(HTTPFailure) {
      guard let method = HTTPRequest.Method(rawValue: request.method.rawValue) else { throw .invalidField }
      var fields = request.fields
      if !fields.contains(where: { $0.name == "accept" }) { fields.append(try HTTPField("accept", "*/*")) }
      switch request.body {
      case .length(0): break
      case .length(let count): upload = try HTTPUpload(flow, count: count, contentType: request.contentType)
      case .chunked: upload = try HTTPUpload(flow, count: nil, contentType: request.contentType)
      }
      outgoing = HTTPRequest(method, request.url, fields: fields, purpose: "door")
    } catch { throw .transient(ErrorKind(error)) }
    if upload != nil, held == nil { reader = BodyReader(request.body, longestLine: 4096) }
    stream = try transport.stream(outgoing, upload, with: loan, nonce: nonce, stillness: Self.stillness, to: flow)
    (self.request, token) = (request, loan.token)
  }

  /// Sends the request, and passes the answer on as it comes; all on this thread.
  ///
  /// - Parameters:
  ///   - client: the client.
  ///   - lane: that of the connection.
  ///   - echo: removes the token from what the server says.
  ///   - passesUnauthorized: whether an answer 401 is passed on as well.
  /// - Returns: the end of it.
  mutating func run(
    _ client: inout DoorClient, on lane: KeptLane, without echo: borrowing SecretEcho, passesUnauthorized: Bool
  ) -> Outcome {
    do throws(HTTPFailure) {
      let transfer = try stream.begin(on: lane)
      return pass(&client, transfer, echo, passesUnauthorized: passesUnauthorized)
    } catch { return .failed(error) }
  }

  private mutating func pass(
    _ client: inout DoorClient, _ transfer: borrowing DirectTransfer, _ echo: borrowing SecretEcho,
    passesUnauthorized: Bool
  ) -> Outcome {
    var hasWaited = false
    while true {
      transfer.turn()
      var mustResume = false
      if written == pending.count {
        let arrival = flow.takeArrival()
        mustResume = arrival.mustResume
        if mustResume { transfer.resume() }
        (pending, written) = ([], 0)
        if let head = arrival.head, !hasHead {
          if token.kind == .proven, let nonce = AuthenticatedTransport.demandedNonce(in: head) {
            return .wantsNonce(nonce)
          }
          if head.status == 401, !passesUnauthorized { return .unauthorized(challenge: head.field("www-authenticate")) }
          begin(head, echo)
        }
        append(arrival.piece)
        // What came before the end was taken with it.
        if let result = transfer.result { return end(result, &client) }
        // Nothing has come: the wait was over for another reason, such as the end of the client's connection.
        if hasWaited, pending.isEmpty, reader == nil || flow.bodyRoom == 0, client.isGone(unread: reader != nil) {
          return .over
        }
      }
      if written < pending.count {
        guard write(&client, at: transfer.time) else { return .over }
      }
      switch feed(&client) {
      case .none:
        hasWaited = !mustResume
        if hasWaited { guard wait(client, transfer) else { return .over } }
      case .some:
        hasWaited = false
        transfer.resume()
      case .over: return .over
      case .malformed: return hasHead ? .over : .malformed
      }
    }
  }

  /// Writes as much as goes at once; false where the client is gone, or has taken nothing for too long.
  private mutating func write(_ client: inout DoorClient, at now: Duration) -> Bool {
    guard let count = client.writeNow(pending, from: written) else { return false }
    written += count
    return !stall.isOver(hasTaken: count > 0 || written == pending.count, at: now, limit: client.writeTime)
  }

  /// Waits until something can be done; false where the door is closed.
  private func wait(_ client: borrowing DoorClient, _ transfer: borrowing DirectTransfer) -> Bool {
    client.wait(
      with: transfer, reading: reader != nil && flow.bodyRoom > 0, writing: written < pending.count)
  }

  // MARK: The body of the request

  /// The progress of the body of a request.
  private enum Feeding {
    /// Nothing that the HTTP client waits for has come.
    case none
    /// Something has that it waits for.
    case some
    /// The body breaks off.
    case over
    /// It is malformed.
    case malformed
  }

  /// Passes on what has come of the body.
  private mutating func feed(_ client: inout DoorClient) -> Feeding {
    guard reader != nil, flow.bodyRoom > 0 else { return .none }
    _ = client.readNow()
    guard !client.input.isEmpty else { return client.hasEnded ? .over : .none }
    var (body, isLast): ([UInt8], Bool) = ([], false)
    var position = 0
    events: while let event = reader?.next(in: client.input.span, from: &position) {
      switch event {
      case .data(let range): body += client.input[range]
      case .end:
        isLast = true
        break events
      case .malformed: return .malformed
      }
    }
    client.input.removeFirst(position)
    if isLast { reader = nil }
    return flow.give(body[...], isLast: isLast) ? .some : .none
  }

  // MARK: The answer

  private mutating func begin(_ head: HTTPResponse, _ echo: borrowing SecretEcho) {
    hasHead = true
    hasNoBody = request.method == .head || head.status == 204 || head.status == 304
    let named = Self.options(head.field("connection"))
    var (length, isClear): (ArraySlice<UInt8>?, Bool) = (nil, true)
    var fields: [UInt8] = []
    fields.reserveCapacity(1024)
    head.forEachField { name, value in
      if name == "transfer-encoding" { isClear = false }
      if name == "content-length" {
        isClear = isClear && (length ?? value) == value
        length = value
      }
      guard !Self.withheld.contains(name), !named.contains(name) else { return }
      fields += name.utf8
      fields += [0x3A, 0x20]
      fields += value
      fields += [0x0D, 0x0A]
    }
    begin(head.status, isClear ? length.flatMap(Self.number) : nil, fields, echo)
  }

  /// Begins the answer to the client: the length is nil where the head says nothing of it, or could be understood in two ways
  /// (RFC 9112, section 6.3), and the client is given chunks.
  private mutating func begin(_ status: Int, _ length: UInt?, _ fields: [UInt8], _ echo: borrowing SecretEcho) {
    isChunked = !hasNoBody && length == nil && request.takesChunks
    endsByClosing = !hasNoBody && length == nil && !request.takesChunks
    pending += "HTTP/1.1 \(status) \r\n".utf8
    // No form of a token has a character that ends a line, or a blank: what is removed lies in a name or in a value.
    pending += echo.removed(from: fields)
    if let length, status != 204 { pending += "Content-Length: \(length)\r\n".utf8 }
    if isChunked { pending += "Transfer-Encoding: chunked\r\n".utf8 }
    if !request.keepsConnection || endsByClosing { pending += "Connection: close\r\n".utf8 }
    pending += [0x0D, 0x0A]
  }

  /// The options of a field `Connection`, in lower case.
  private static func options(_ field: String?) -> [String] {
    guard let field, field != "keep-alive" else { return [] }
    return field.lowercased().split(separator: ",").map { String($0.filter { $0 != " " && $0 != "\t" }) }
  }

  /// The number of a length; nil for one that no number holds, which is none to the HTTP client either.
  private static func number(_ digits: ArraySlice<UInt8>) -> UInt? {
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return UInt(String(decoding: digits, as: UTF8.self))
  }

  private mutating func append(_ piece: [UInt8]) {
    guard !piece.isEmpty, !hasNoBody else { return }
    if isChunked { pending += Array("\(String(piece.count, radix: 16))\r\n".utf8) }
    pending += piece
    if isChunked { pending += [0x0D, 0x0A] }
  }

  private mutating func end(_ result: Result<HTTPResponse, HTTPFailure>, _ client: inout DoorClient) -> Outcome {
    switch result {
    case .success where hasHead:
      if isChunked { pending += Array("0\r\n\r\n".utf8) }
      guard client.write(pending), !endsByClosing else { return .over }
      guard reader == nil else {
        client.linger()
        return .over
      }
      return .done
    case .success: return .failed(.malformedResponse)
    case .failure(let error):
      guard hasHead else { return .failed(error) }
      _ = client.write(pending)
      return .over
    }
  }
}
