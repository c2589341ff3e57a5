public import JSON

/// An error as a client sees it: a stable kind, one plain sentence, and what to do next.
///
/// Nothing in it may carry a secret or a provider's raw text.
public struct BrokerError: Error, Sendable, Equatable {
  /// The stable name.
  public var kind: ErrorKind
  /// One plain sentence.
  public var message: String
  /// The caller's next step.
  public var nextAction: NextAction
  /// Whether the same request may succeed later.
  public var isRetryable: Bool
  /// When it makes sense to try again.
  public var retryAfter: Duration?
  /// The profile that the request was about.
  public var profile: ProfileName?
  /// The parameter that does not fit (RFC 6901).
  public var pointer: String?
  /// The rule of the configuration that refuses the request, or that no rule allows it, by the place of the list.
  public var rule: String?
  /// How many more wrong codes are accepted.
  public var attemptsRemaining: Int?
  /// The names of missing or refused fields.
  public var fields: [String]?
  /// The challenge that waits for its code.
  public var challenge: OTPChallenge?
  /// The user action that the login waits for.
  public var action: UserAction?
  /// The scopes that a login has to ask for, so that the server takes its tokens.
  public var scopes: [String]?
  /// The authentication context class references that the server accepts, the preferred one first (RFC 9470, section 3).
  public var acrValues: [String]?
  /// How many seconds ago the user may have authenticated for the server, at most (RFC 9470, section 3).
  public var maxAge: Int?
  /// The proof that the client must give before it may call this method.
  public var proof: StateProof?
  /// Whether a proof of access to the state directory lets the request pass; the server adds the proof.
  ///
  /// It is not written: a client sees ``proof``.
  package var admitsProof = false
  /// Names this one failure in the log.
  public var correlationID: String?

  /// An error of a kind, with the kind's own sentence unless there is a better one.
  public init(_ kind: ErrorKind, _ message: String? = nil, profile: ProfileName? = nil, pointer: String? = nil) {
    self.kind = kind
    self.message = message ?? kind.message
    self.profile = profile
    self.pointer = pointer
    nextAction = kind.nextAction
    isRetryable = kind.isRetryable
  }

  /// The sentence for a full memory of secrets.
  public static let secretMemoryMessage = "The memory for secrets is full; try again."

  /// The error of parameters that do not fit, or for which there is no memory.
  public init(_ mismatch: JSONMismatch) {
    if mismatch.isForWantOfMemory {
      self.init(.overloaded, Self.secretMemoryMessage)
      return
    }
    let place = mismatch.pointer.description
    self.init(
      .invalidParams, "The \(place.isEmpty ? "params" : "parameter \(place)") must be \(mismatch.expected).",
      pointer: place)
  }
}

extension BrokerError: JSONEncodable, JSONDecodable {
  /// Writes the error object of a response.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("code", kind.code)
      writer.member("message", message)
      writer.key("data")
      writer.object { writer in
        writer.member("kind", kind.rawValue)
        writer.member("nextAction", nextAction.rawValue)
        writer.member("retryable", isRetryable)
        writer.seconds("retryAfterSeconds", retryAfter)
        writer.member(ifPresent: "profile", profile)
        writer.member(ifPresent: "pointer", pointer)
        writer.member(ifPresent: "rule", rule)
        writer.member(ifPresent: "attemptsRemaining", attemptsRemaining)
        writer.member(ifPresent: "fields", fields)
        writer.member(ifPresent: "challenge", challenge)
        writer.member(ifPresent: "action", action)
        writer.member(ifPresent: "scopes", scopes)
        writer.member(ifPresent: "acrValues", acrValues)
        writer.member(ifPresent: "maxAge", maxAge)
        writer.member(ifPresent: "proof", proof)
        writer.member(ifPresent: "correlationId", correlationID)
      }
    }
  }

  /// Reads an error object; a kind that this version does not know becomes `internal`, its sentence kept.
  public init(from node: JSONNode) throws(JSONMismatch) {
    let data = node["data"]
    let kind = try data?.optional("kind", String.init(from:)).flatMap(ErrorKind.init(rawValue:)) ?? .internal
    self.init(kind, try node.required("message").string())
    guard let data else { return }
    nextAction =
      try data.optional("nextAction", String.init(from:)).flatMap(NextAction.init(rawValue:)) ?? kind.nextAction
    isRetryable = try data.optional("retryable", Bool.init(from:)) ?? kind.isRetryable
    retryAfter = try data.optional("retryAfterSeconds") { node throws(JSONMismatch) in try node.seconds() }
    profile = try data.optional("profile", ProfileName.init(from:))
    pointer = try data.optional("pointer", String.init(from:))
    rule = try data.optional("rule", String.init(from:))
    attemptsRemaining = try data.optional("attemptsRemaining", Int.init(from:))
    fields = try data.optional("fields", [String].init(from:))
    challenge = try data.optional("challenge", OTPChallenge.init(from:))
    action = try data.optional("action", UserAction.init(from:))
    scopes = try data.optional("scopes", [String].init(from:))
    acrValues = try data.optional("acrValues", [String].init(from:))
    maxAge = try data.optional("maxAge", Int.init(from:))
    proof = try data.optional("proof", StateProof.init(from:))
    correlationID = try data.optional("correlationId", String.init(from:))
  }
}
