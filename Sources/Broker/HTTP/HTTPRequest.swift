package import SecretMemory

/// One request, without credentials: a transport adds those.
package struct HTTPRequest: Sendable {
  /// The request method (RFC 9110, section 9).
  package enum Method: String, Sendable {
    /// Reads.
    case get = "GET"
    /// Reads the header alone.
    case head = "HEAD"
    /// Does what the target does with a body.
    case post = "POST"
    /// Replaces.
    case put = "PUT"
    /// Changes (RFC 5789).
    case patch = "PATCH"
    /// Removes.
    case delete = "DELETE"
    /// Asks what can be done with the target, and does nothing (RFC 9110, section 9.3.7).
    case options = "OPTIONS"
  }

  /// How long the request may take: which of ``HTTPTimeouts``.
  package enum Deadline: Sendable {
    /// A person waits.
    case interactive
    /// A token is refreshed.
    case refresh

    /// The arena of the request's secrets: what clients bring about takes no room that a session needs.
    package var arena: SecretArena {
      switch self {
      case .interactive: .requests
      case .refresh: SecretScope.current.arena ?? .shared
      }
    }
  }

  /// How often the request may be sent.
  package enum Delivery: Sendable {
    /// Once at most.
    ///
    /// It gets a new connection: one that was kept open may be dying, which shows only after something was sent on it,
    /// and then it is unknown whether that arrived.
    case once
    /// Again on a new connection if the kept one turns out to be dead before any byte came back.
    case repeatable
  }

  /// The method.
  package var method: Method
  /// To what.
  package var url: HTTPURL
  /// The header fields.
  package var fields: [HTTPField]
  /// A cookie, where the target keeps a token in one.
  package var cookie: HTTPCookie?
  /// The proof of possession of a key (RFC 9449), made for this request alone.
  package var proof: Secret?
  /// The body.
  package var body: HTTPBody?
  /// How long it may take.
  package var deadline: Deadline
  /// How often it may be sent; by default only one that reads may be repeated.
  package var delivery: Delivery
  /// How long it waits before it takes its turn: a repetition gives the server time.
  package var pause = Duration.zero
  /// The purpose, in a word of the program, for the log; a request without credentials that only looks is a probe.
  package var purpose: String

  /// Whether a reply whose end is missing is complete all the same, by its body; nil where such a reply is lost.
  ///
  /// It is asked only for requests that spend something: to throw such a reply away may be to lose a session.
  package var isWhole: (@Sendable (HTTPResponse) -> Bool)?

  /// Whether its answer comes only once, because the target acts on it: it may spend a token, a code or a name.
  ///
  /// Once it is sent, nothing but an answer, a lost connection or the end of its time ends it; its time goes on while
  /// bytes of an answer come.
  package var isSpending: Bool { ![.get, .head, .options].contains(method) }

  /// A request.
  package init(
    _ method: Method, _ url: HTTPURL, fields: [HTTPField] = [], body: HTTPBody? = nil,
    deadline: Deadline = .interactive,
    purpose: String = "probe"
  ) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
    self.deadline = deadline
    delivery = method == .get || method == .head ? .repeatable : .once
    self.purpose = purpose
  }
}

/// The body of a request: it is handled as a secret, whatever it is.
package struct HTTPBody: Sendable {
  /// The bytes.
  package let bytes: Secret
  /// The media type, such as `application/json`.
  package let contentType: String

  /// A body of JSON (RFC 8259).
  package static func json(_ bytes: Secret) -> HTTPBody { HTTPBody(bytes: bytes, contentType: "application/json") }

  /// A body of JSON, moved out of the buffer that it was written to.
  ///
  /// - Parameters:
  ///   - bytes: wiped in every case.
  ///   - deadline: that of the request.
  /// - Returns: the body.
  /// - Throws: `HTTPFailure.secretMemoryExhausted`.
  package static func json(
    wiping bytes: inout [UInt8], for deadline: HTTPRequest.Deadline
  ) throws(HTTPFailure) -> HTTPBody {
    .json(try secret(wiping: &bytes, for: deadline))
  }

  /// Moves bytes to send into the arena of such a request's secrets.
  static func secret(
    wiping bytes: inout [UInt8], for deadline: HTTPRequest.Deadline
  ) throws(HTTPFailure) -> Secret {
    do { return try Secret(wiping: &bytes, in: deadline.arena) } catch { throw .secretMemoryExhausted }
  }

  /// A body of a form, encoded already (see ``FormEncoder``).
  package static func form(_ bytes: Secret) -> HTTPBody {
    HTTPBody(bytes: bytes, contentType: "application/x-www-form-urlencoded")
  }

  private init(bytes: Secret, contentType: String) {
    self.bytes = bytes
    self.contentType = contentType
  }
}
