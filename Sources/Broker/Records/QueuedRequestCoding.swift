package import BrokerCore
import BrokerProtocol
import JSON
package import SecretMemory

/// The coding of a queued request before it is sealed: one JSON object.
package enum QueuedRequestCoding {
  /// The object.
  package static func encode(_ request: QueuedRequest) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("requestId", request.requestID)
      writer.member(ifPresent: "user", request.user)
      writer.member(ifPresent: "socket", request.socket)
      writer.member("key", request.key)
      writer.member("digest", request.digest)
      writer.member("method", request.method.rawValue)
      writer.member("url", request.url)
      writer.member(ifPresent: "scopes", request.scopes)
      writer.member(ifPresent: "audience", request.audience)
      writer.member("timeout", Int(request.timeout / .milliseconds(1)))
      writer.member("bytes", request.byteCount)
      writer.member("queuedAt", Int(request.queuedAt.milliseconds))
      writer.member("attempts", request.attempts)
      writer.member("serverErrors", request.serverErrors)
      writer.member(ifPresent: "firstAttemptAt", request.firstAttemptAt.map { Int($0.milliseconds) })
      writer.member("mayHaveActed", request.mayHaveActed)
      writer.member("isCancelled", request.isCancelled)
      writer.member(ifPresent: "endedAt", request.endedAt.map { Int($0.milliseconds) })
      switch request.stage {
      case .waiting: writer.member("stage", "waiting")
      case .sending: writer.member("stage", "sending")
      case .completed(let status):
        writer.member("stage", "completed")
        writer.member("status", status)
      case .failed(let failure):
        writer.member("stage", "failed")
        writer.member("failure", failure.rawValue)
      }
    }
    return writer.bytes
  }

  /// - Throws: `JSONError` or `JSONMismatch` when it is not what was written.
  package static func decode(
    _ plaintext: Secret, _ id: QueuedRequest.ID, _ binding: ProviderBinding
  ) throws -> QueuedRequest? {
    let bytes = plaintext.withBytes { plaintext in plaintext.indices.map { plaintext[$0] } }
    let root = try JSONDocument(parsing: bytes, limits: TokenCoding.limits).root
    let word = try root.required("method").string()
    guard let method = APIRequest.Method(rawValue: word), let stage = try stage(of: root) else { return nil }
    var request = QueuedRequest(
      id: id, requestID: try root.required("requestId").string(), binding: binding,
      user: try root.optional("user", String.init(from:)), socket: try root.optional("socket", String.init(from:)),
      key: try root.required("key").string(), digest: try root.required("digest").string(), method: method,
      url: try root.required("url").string(),
      scopes: try root.optional("scopes", [String].init(from:)),
      audience: try root.optional("audience", String.init(from:)),
      timeout: .milliseconds(try Int(from: root.required("timeout"))),
      byteCount: try Int(from: root.required("bytes")), queuedAt: try time(root.required("queuedAt")))
    request.stage = stage
    request.attempts = try Int(from: root.required("attempts"))
    request.serverErrors = try Int(from: root.required("serverErrors"))
    request.firstAttemptAt = try root.optional("firstAttemptAt", time)
    request.mayHaveActed = try root.required("mayHaveActed").bool()
    request.isCancelled = try root.required("isCancelled").bool()
    request.endedAt = try root.optional("endedAt", time)
    return request
  }

  private static func stage(of root: JSONNode) throws(JSONMismatch) -> QueuedRequest.Stage? {
    switch try root.required("stage").string() {
    case "waiting": .waiting
    case "sending": .sending
    case "completed": .completed(status: try Int(from: root.required("status")))
    case "failed": RequestFailure(rawValue: try root.required("failure").string()).map { .failed($0) }
    default: nil
    }
  }

  private static func time(_ node: JSONNode) throws(JSONMismatch) -> Timestamp {
    Timestamp(milliseconds: try node.integer())
  }
}

/// The coding of what is sent with a queued request, and of what came: an object of a header, and the body behind it.
package enum QueuedContentsCoding {
  /// The contents, and whether they are an answer.
  package static func encode(_ contents: QueuedContents) -> (isAnswer: Bool, [UInt8]) {
    switch contents {
    case .request(let headers, let body): (false, encode(0, headers, body))
    case .answer(let answer): (true, encode(answer.status, answer.headers, answer.body))
    }
  }

  private static func encode(_ status: Int, _ headers: HeaderFields, _ body: [UInt8]?) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("status", status)
      writer.member("headers", headers)
      writer.member("hasBody", body != nil)
    }
    // The text has no line feed in it.
    return writer.bytes + [0x0A] + (body ?? [])
  }

  /// Nil for what is not what was written.
  package static func decode(_ bytes: [UInt8], isAnswer: Bool) -> QueuedContents? {
    guard let end = bytes.firstIndex(of: 0x0A),
      let root = try? JSONDocument(parsing: Array(bytes[..<end]), limits: TokenCoding.limits).root,
      let status = try? Int(from: root.required("status")),
      let headers = try? HeaderFields(from: root.required("headers")),
      let hasBody = try? root.required("hasBody").bool()
    else { return nil }
    let body = Array(bytes[(end + 1)...])
    guard isAnswer else { return .request(headers, body: hasBody ? body : nil) }
    return .answer(APIAnswer(status: status, headers: headers, body: body))
  }
}
