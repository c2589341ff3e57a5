import BrokerCore
import BrokerProtocol
import JSON
import Logging

/// The log of failed calls, by which the `correlationId` of an error leads to a line.
///
/// The methods that a person uses have a line of their own for each failure, so that what programs ask for all the time
/// does not push those out: the log counts by its messages. The words of a line are the broker's own; of the caller's
/// there is none but a profile's name, and what errors name of a request.
enum FailureLog {
  /// The methods by which a person logs in, authenticates again, or changes credentials.
  private static let methods: Set<String> = [
    Login.name, VerifyOTP.name, ResendOTP.name, VerifyBackupCode.name, AwaitLogin.name, CompleteLogin.name,
    CancelLogin.name, Register.name,
    VerifyEmail.name, ForgotPassword.name, ResetPassword.name, ChangePassword.name, UpdateProfile.name,
    GenerateBackupCodes.name, DeleteAccount.name, Reauthenticate.name, Logout.name, Unlock.name, Rekey.name, Prove.name,
    AddLocalUser.name, SetLocalUserEnabled.name, ResetLocalUser.name, DeleteLocalUser.name, RevokeLocalSessions.name,
    RotateLocalSigningKey.name,
  ]

  /// Whether a failure is one that its user may look for in the log.
  ///
  /// It is not where the error is an ordinary answer: a missing credential, by which a client learns what to ask for;
  /// an address without a target, by which a tool's helper learns that it is not meant; the end of the client's
  /// patience or of the broker, which leaves everything as it is; a call that its client cancelled; an internal error,
  /// which has a line of its own. By an error with a proof a client learns what it must prove, also where it asks for
  /// that by `prove`; that it cannot is its failed attempt.
  static func concerns(_ method: String, _ error: BrokerError) -> Bool {
    let lessons: [ErrorKind] = [
      .missingCredential, .unknownTarget, .cancelled, .deadlineExceeded, .shuttingDown, .internal,
    ]
    return !isQuestion(method, error) && !lessons.contains(error.kind)
  }

  /// Whether an error asks for a proof, and refuses nothing yet.
  static func isQuestion(_ method: String, _ error: BrokerError) -> Bool {
    error.proof != nil && (method != Prove.name || error.admitsProof)
  }

  /// Whether a method is one that a person's doing leads to.
  static func isPersons(_ method: String) -> Bool { methods.contains(method) }
}

/// Decides which unknown parameters are named in the log.
///
/// A name may be a secret that was sent in the wrong place. So it is logged only where a method takes no secret at all,
/// and where it looks like a parameter's: letters alone. Of any other no copy is made, and its position is logged. Only
/// a few are logged over all connections: a client that makes names up fills neither the log nor the memory.
///
/// A value: it writes nothing and reads no clock.
struct IgnoredParameters {
  /// The most names in an hour: enough for a program that is being written; a client in production misspells nothing.
  static let namesPerHour = 16
  /// The most letters of a name: no parameter of the contract is longer, nor has other characters than letters.
  static let nameBytes = 32

  /// The methods that take nothing secret.
  private static let plainMethods = Set(Methods.all.filter { !$0.mayCarrySecret }.map { $0.name })
  private static let hour = Duration.seconds(3600)

  private var hourEnd = Duration.zero
  private var told = 0
  /// The parameter names of each type, kept so that they are not listed for every request.
  private var names: [ObjectIdentifier: [String]] = [:]

  /// The names of the parameters that a type has.
  mutating func names<Params: MethodParams>(of type: Params.Type) -> [String] {
    if let known = names[ObjectIdentifier(type)] { return known }
    let listed = type.members.names
    names[ObjectIdentifier(type)] = listed
    return listed
  }

  /// Decides about one parameter.
  ///
  /// - Parameters:
  ///   - name: as it stands in the message.
  ///   - place: its number among the parameters.
  ///   - method: whose parameter it is.
  ///   - known: what was told of the connection before.
  ///   - now: the uptime.
  /// - Returns: what is to be told of it, nil for nothing; and whether another parameter may be told.
  mutating func note(
    _ name: Span<UInt8>, at place: Int, of method: String, knownTo known: inout Set<String>, _ now: Duration
  ) -> (LogField?, goesOn: Bool) {
    if now >= hourEnd {
      hourEnd = now + Self.hour
      told = 0
    }
    guard told < Self.namesPerHour, known.count < Self.namesPerHour else { return (nil, false) }
    let isPlain = Self.plainMethods.contains(method)
    // A method's name holds no blank, so that it is no parameter's.
    let word = isPlain && Self.isWord(name) ? String(decoding: Array(copying: name), as: UTF8.self) : nil
    guard known.insert(word ?? "method \(method)").inserted else { return (nil, isPlain) }
    told += 1
    return (word.map { .word("name", $0) } ?? .number("place", place), true)
  }

  /// Whether a name could be that of a parameter.
  private static func isWord(_ name: Span<UInt8>) -> Bool {
    name.count <= nameBytes
      && name.indices.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(name[$0] | 0x20) }
  }
}

extension Logger {
  /// Logs the beginnings and ends of sessions, and the locking of the vault: what a reader of the log asks first.
  ///
  /// Frequent events, such as a refresh, have no line; no user is named.
  func write(_ event: BrokerEvent) {
    let (sentence, reason): (StaticString, LogField?)
    var lastWord = ProviderLastWord()
    switch event.payload {
    case .login(let login): (sentence, reason) = ("a session began", .word("method", login.method))
    case .logout(let logout): (sentence, reason) = ("a session was signed out", .word("reason", logout.reason.rawValue))
    case .sessionExpired(let end):
      (sentence, reason) = ("a session ended", .word("reason", end.reason.rawValue))
      lastWord = end.lastWord
    case .vaultLocked: (sentence, reason) = ("the vault was locked", nil)
    case .vaultUnlocked: (sentence, reason) = ("the vault was unlocked", nil)
    default: return
    }
    let profile = event.profile.map { LogField.word("profile", $0.description) }
    let status = lastWord.status.map { LogField.number("status", $0) }
    let error = lastWord.error.map { LogField.word("error", $0) }
    write(.info, sentence, [profile, reason, status, error].compactMap { $0 })
  }
}
