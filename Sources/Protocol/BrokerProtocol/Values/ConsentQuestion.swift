public import JSON

/// A question of the broker to its owner: whether a client may have a token of a profile.
///
/// Administrative connections alone see it, as an event and by listConsents, and answer it by answerConsent.
public struct ConsentQuestion: ObjectCodable, Equatable {
  /// The broker's handle of the question.
  public var consentID: String
  /// The profile whose token it is about.
  public var profile: ProfileName
  /// The method that gives the token; a report of a refused token asks as getAccessToken.
  public var method: String
  /// The scopes of the token; absent for the session's own.
  public var scopes: [String]?
  /// The audience of the token; absent for the session's own.
  public var audience: String?
  /// The client that has asked first.
  public var client: ConsentClientState
  /// The rule's `confirm`: `once`, so that the answer is remembered, or `always`.
  public var confirm: String
  /// Whether the client is an ssh that forwards the socket, so that any program of another machine may be behind it.
  public var forwarded: Bool?
  /// The subject that has the token where the answer only allows.
  public var grants: ConsentGrant
  /// How many requests wait for the answer.
  public var requests: Int
  /// Whether something was left out because an event is short; listConsents has all of it.
  public var abridged: Bool?
  /// When the requests are refused if there is no answer.
  public var expiresAt: Timestamp

  public init(
    consentID: String, profile: ProfileName, method: String, scopes: [String]? = nil, audience: String? = nil,
    client: ConsentClientState, confirm: String, forwarded: Bool? = nil, grants: ConsentGrant, requests: Int = 1,
    expiresAt: Timestamp
  ) {
    self.consentID = consentID
    self.profile = profile
    self.method = method
    self.scopes = scopes
    self.audience = audience
    self.client = client
    self.confirm = confirm
    self.forwarded = forwarded
    self.grants = grants
    self.requests = requests
    self.expiresAt = expiresAt
  }

  public static let blank = ConsentQuestion(
    consentID: "", profile: .default, method: "", client: .blank, confirm: "", grants: .blank, expiresAt: .epoch)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("consentId", &consentID)
    try coder.required("profile", &profile)
    try coder.required("method", &method)
    try coder.optional("scopes", &scopes)
    try coder.optional("audience", &audience)
    try coder.required("client", &client)
    try coder.required("confirm", &confirm, .word(of: ["once", "always"]))
    try coder.optional("forwarded", &forwarded)
    try coder.required("grants", &grants)
    try coder.required("requests", &requests, .count)
    try coder.optional("abridged", &abridged)
    try coder.required("expiresAt", &expiresAt)
  }
}

/// A client as a question shows it.
///
/// Rules judge by socket, uid, unit, label and tool; the processes are shown, and decide nothing.
public struct ConsentClientState: ObjectCodable, Equatable {
  /// Its identity.
  public var identity: ClientIdentity
  /// Its process, and behind that its ancestors, the nearest first; empty where its process is not known.
  public var chain: [ConsentProcess]

  /// A client of these members.
  public init(_ identity: ClientIdentity, chain: [ConsentProcess] = []) {
    (self.identity, self.chain) = (identity, chain)
  }

  public static let blank = ConsentClientState(.blank)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try identity.code(&coder)
    try coder.required("chain", &chain)
  }
}

/// A process as a question shows it.
public struct ConsentProcess: ObjectCodable, Equatable {
  /// Its number.
  public var pid: Int
  /// When it was started; with the number it names one process.
  public var startedAt: Timestamp
  /// The name of the program that it executes, as far as it can be read.
  public var command: String?
  /// The file that it executes, as far as it can be read.
  public var executable: String?

  /// A process of these members.
  public init(pid: Int, startedAt: Timestamp, command: String? = nil, executable: String? = nil) {
    (self.pid, self.startedAt, self.command, self.executable) = (pid, startedAt, command, executable)
  }

  public static let blank = ConsentProcess(pid: 0, startedAt: .epoch)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("pid", &pid, .count)
    try coder.required("startedAt", &startedAt)
    try coder.optional("command", &command)
    try coder.optional("executable", &executable)
  }
}

/// The subject of a consent: all of it has the token until the consent ends.
public struct ConsentGrant: ObjectCodable, Equatable {
  /// The kinds of subject, as answerConsent takes them.
  public static let subjects = ["process", "ancestor", "unit", "socket"]

  /// The kind: `process`, this process alone; `ancestor`, one of its ancestors and all that it starts; `unit`; `socket`.
  public var subject: String
  /// The process, or the ancestor; absent where the process is not known, and the connection stands for it.
  public var pid: Int?
  /// The unit.
  public var unit: String?
  /// The limited socket; absent for the broker's own.
  public var socket: String?
  /// How long it is remembered while it is not used, and twelve hours at most; 0: for the waiting requests alone.
  public var remember: Duration

  /// A subject of these members.
  public init(
    subject: String, pid: Int? = nil, unit: String? = nil, socket: String? = nil, remember: Duration = .zero
  ) {
    (self.subject, self.pid, self.unit) = (subject, pid, unit)
    (self.socket, self.remember) = (socket, remember)
  }

  public static let blank = ConsentGrant(subject: "")

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("subject", &subject, .word(of: Self.subjects))
    try coder.optional("pid", &pid, .count)
    try coder.optional("unit", &unit)
    try coder.optional("socket", &socket)
    try coder.required("rememberSeconds", &remember, .seconds)
  }
}
