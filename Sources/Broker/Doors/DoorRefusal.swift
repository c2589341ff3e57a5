import BrokerProtocol
import JSON

/// The answer of a door itself to a request that it does not forward.
struct DoorRefusal: Error {
  /// The status (RFC 9110, section 15): 401, at which clients begin a login of their own, only where the door passes it on.
  let status: Int
  /// Why, as the broker tells errors.
  let error: BrokerError
  /// Whether the connection ends: the bytes that follow cannot be trusted, or are not wanted.
  var ends: Bool
  /// Whether the answer has its header alone, as one to HEAD has.
  var hasNoBody = false
  /// Whether the request was sent, and has no answer that can be passed on.
  let wasForwarded: Bool

  /// A refusal of a message that is malformed or not for this door; the connection ends.
  static func malformed(_ sentence: String, status: Int = 400) -> DoorRefusal {
    DoorRefusal(status: status, error: BrokerError(.invalidRequest, sentence), ends: true)
  }

  /// A refusal of a client that may not use the door, or of what it may not send.
  static func denied(_ sentence: String) -> DoorRefusal {
    DoorRefusal(status: 403, error: BrokerError(.accessDenied, sentence), ends: true)
  }

  /// A question for the placeholder (RFC 7617), for clients such as git that send credentials only when they are asked.
  static func unasked(_ sentence: String) -> DoorRefusal {
    DoorRefusal(status: 401, error: BrokerError(.accessDenied, sentence), ends: true)
  }

  /// The broker's own refusal.
  init(_ error: BrokerError, ends: Bool, wasForwarded: Bool = false) {
    switch error.kind {
    case .accessDenied, .consentDenied, .unknownProfile, .insufficientScope: status = 403
    case .invalidParams: status = 400
    case .timeout, .deadlineExceeded: status = 504
    case .overloaded, .shuttingDown, .vaultLocked, .rateLimited: status = 503
    default: status = 502
    }
    (self.error, self.ends, self.wasForwarded) = (error, ends, wasForwarded)
  }

  private init(status: Int, error: BrokerError, ends: Bool) {
    (self.status, self.error, self.ends, wasForwarded) = (status, error, ends, false)
  }

  /// The answer as bytes.
  var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in writer.member("error", error) }
    var head = "HTTP/1.1 \(status) \(Self.phrases[status] ?? "Refused")\r\nContent-Type: application/json\r\n"
    head += "Content-Length: \(writer.bytes.count)\r\nCache-Control: no-store\r\n"
    if status == 401 { head += "WWW-Authenticate: Basic realm=\"door\"\r\n" }
    if ends { head += "Connection: close\r\n" }
    return Array((head + "\r\n").utf8) + (hasNoBody ? [] : writer.bytes)
  }

  private static let phrases = [
    400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 405: "Method Not Allowed", 408: "Request Timeout",
    413: "Content Too Large", 431: "Request Header Fields Too Large", 501: "Not Implemented", 502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
  ]
}
