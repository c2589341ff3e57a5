import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory
import StateDirectory

/// The exchange of a token for the keys of a role, by the program curl, with all that is secret on its standard input
/// (curl(1), `--config`).
struct AWSExchange: Sendable {
  /// The outcome of one request.
  struct Outcome {
    /// The line that AWS's tools read, or why there is none.
    let result: Result<[UInt8], CommandFailure>
    /// Whether another token may be taken.
    var isAboutToken = false
    /// Whether the same may be taken later.
    var passes = false
  }

  /// How long the service is asked again while something passes: what runs a `credential_process` waits for it.
  static let patience = Duration.seconds(15)
  private static let limit = Duration.seconds(9)
  private static let longest = 64 * 1024
  /// No connection, no time left, a reply that broke off (curl(1), "EXIT CODES").
  private static let passingCodes: [Int32] = [7, 18, 28, 52, 55, 56]
  /// The errors that pass, though they have the status of an error for good: the service asks the identity provider for
  /// its keys, and counts its callers (AssumeRoleWithWebIdentity, "Common errors").
  private static let passingErrors = [
    "IDPCommunicationError", "Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException",
    "ServiceUnavailable", "InternalFailure", "RequestTimeout",
  ]

  private let role: AWSRole
  private let program: String
  private let environment: [String: String]

  /// Finds the program.
  ///
  /// - Throws: a failure where there is none.
  init(of role: AWSRole, _ environment: [String: String]) throws(CommandFailure) {
    guard let program = SearchPath.program("curl", environment, where: { $0.isProgram }) else {
      throw CommandFailure(
        .failure, "curl is not on the PATH, and the request to AWS is made with it; install the package curl")
    }
    self.role = role
    self.program = program
    self.environment = environment
  }

  /// Asks for keys, and once more where the service refuses the token and there is another.
  ///
  /// - Parameters:
  ///   - token: what is exchanged.
  ///   - other: gives the token to use in place of the one that was refused.
  /// - Returns: the line to print, which the caller wipes.
  /// - Throws: what a person is told: with code 5 where the service does not answer, with code 6 where it refuses.
  func keys(
    for token: Secret, insteadOf other: () throws(CommandFailure) -> Secret
  ) throws(CommandFailure) -> [UInt8] {
    let outcome = try ask(token)
    guard outcome.isAboutToken else { return try outcome.result.get() }
    let other = try other()
    return try (other == token ? outcome : ask(other)).result.get()
  }

  /// Asks again while what is wrong passes: the same token may be sent as often as one likes.
  private func ask(_ token: Secret) throws(CommandFailure) -> Outcome {
    let deadline = BootClock.now + Self.patience
    var pause = Duration.milliseconds(300)
    while true {
      let outcome = try outcome(of: token, within: min(Self.limit, deadline - BootClock.now))
      // Processes that were refused together do not come back together.
      let wait = pause + pause * (BootClock.nanoseconds % 1000) / 2000
      guard outcome.passes, BootClock.now + wait + .seconds(1) < deadline else { return outcome }
      var poll = PollSet(count: 0)
      _ = try? poll.wait(atMost: wait)
      pause *= 2
    }
  }

  private func outcome(of token: Secret, within limit: Duration) throws(CommandFailure) -> Outcome {
    guard var form = role.form(token) else {
      throw CommandFailure(
        .failure, "the token is longer than the \(AWSRole.longestToken) bytes that AWS takes; let it have fewer claims")
    }
    let seconds = max(1, limit.components.seconds)
    defer { wipe(&form) }
    var settings = settings(form, seconds)
    defer { wipe(&settings) }
    var environment = environment
    // Keys of the connection in a file would give the token away.
    environment["SSLKEYLOGFILE"] = nil
    // Not even the user's own ~/.curlrc is read: it could have the request shown or sent elsewhere.
    var done = try ToolRun(
      program, ["-q", "--config", "-"], secret: settings.span, environment: environment,
      limit: .seconds(seconds + 1), longest: Self.longest + 16)
    defer { wipe(&done.output) }
    guard done.code == 0 else {
      let passes = Self.passingCodes.contains(done.code)
      return Outcome(result: .failure(noKeys(Self.reason(done.code, within: seconds))), passes: passes)
    }
    // The status is the last line.
    guard let end = done.output.lastIndex(of: UInt8(ascii: "\n")) else {
      return Outcome(result: .failure(noKeys(Self.reason(63, within: seconds))))
    }
    return answer(done.output[..<end], Int(String(decoding: done.output[(end + 1)...], as: UTF8.self)) ?? 0, token)
  }

  /// The request as a configuration of curl.
  ///
  /// - Parameters:
  ///   - form: escaped, so that no byte of it means something to curl.
  ///   - seconds: how long it may take.
  /// - Returns: bytes that the caller wipes.
  func settings(_ form: [UInt8], _ seconds: Int64) -> [UInt8] {
    let isPlain = role.url.hasPrefix("http:")
    var lines = [
      "url = \"\(role.url)\"", "globoff", "silent", "proto = \"=\(isPlain ? "http" : "https")\"",
      "max-redirs = 0", "max-time = \(seconds)", "max-filesize = \(Self.longest)",
      "user-agent = \"authbroker/\(ProgramVersion.number)\"", "header = \"Accept: text/xml\"",
      "write-out = \"\\n%{http_code}\"", isPlain ? "noproxy = \"*\"" : "tlsv1.2",
    ]
    if let authorities = environment["AWS_CA_BUNDLE"], !authorities.isEmpty {
      lines.append("cacert = \(JSONWriter.quoted(authorities))")
    }
    let lead = lines.joined(separator: "\n") + "\ndata = \""
    var settings = SecretText.bytes(lead, form.span, room: 2)
    settings.append(contentsOf: "\"\n".utf8)
    return settings
  }
}

// MARK: Answers

extension AWSExchange {
  /// Reads an answer (AssumeRoleWithWebIdentity, and "Common errors").
  ///
  /// - Parameters:
  ///   - body: XML.
  ///   - status: the status of HTTP.
  ///   - token: what was sent; an answer that repeats it is not shown.
  ///   - now: the present moment.
  /// - Returns: what came of it.
  func answer(_ body: ArraySlice<UInt8>, _ status: Int, _ token: Secret, now: Timestamp = LocalTime.now) -> Outcome {
    if status == 200, var keys = Self.keys(in: body) {
      guard keys.expiresAt <= now else { return Outcome(result: .success(keys.line)) }
      wipe(&keys.line)
      // A tool would take them for good ones until the next refusal.
      return Outcome(result: .failure(noKeys("those that it gave have expired; check the clock of this machine")))
    }
    guard status != 200, let code = Self.shown("Code", in: body, without: token), !code.isEmpty else {
      let what = "no answer of AWS's Security Token Service (status \(status)); check the address"
      return Outcome(result: .failure(noKeys(what)), passes: status >= 500)
    }
    let words = Self.shown("Message", in: body, without: token) ?? ""
    let told = "(\(code))" + (words.isEmpty ? "" : ": " + words)
    guard status < 500, status != 429, !Self.passingErrors.contains(code) else {
      return Outcome(result: .failure(noKeys("\(told); try again later")), passes: true)
    }
    let refusal = "AWS refused the keys of \(role.arn.shellQuoted) \(told)\(Self.advice(code))"
    return Outcome(
      result: .failure(CommandFailure(.accessDenied, refusal)),
      isAboutToken: ["ExpiredTokenException", "InvalidIdentityToken"].contains(code))
  }

  private func noKeys(_ reason: String) -> CommandFailure {
    CommandFailure(.providerUnavailable, "no keys from \(role.url): \(reason)")
  }

  /// The reason behind an exit code (curl(1), "EXIT CODES").
  private static func reason(_ code: Int32, within seconds: Int64) -> String {
    switch code {
    case 5, 97: "the proxy cannot be reached"
    case 6: "its host is not known; check the region, or --sts-url"
    case 7: "it cannot be reached"
    case 28, 137: "it did not answer within \(seconds) s"
    case 35: "the TLS handshake failed; check that the port of its address speaks TLS (curl: 35)"
    case 60:
      "its certificate has expired, is another host's, or is signed by an untrusted authority; for a private authority "
        + "set AWS_CA_BUNDLE (curl: 60)"
    case 63: "its answer is not one of the Security Token Service"
    case 77: "the file of trusted authorities cannot be read; check AWS_CA_BUNDLE, then SSL_CERT_FILE (curl: 77)"
    default: "the request failed (curl: \(code))"
    }
  }

  private static func advice(_ code: String) -> String {
    switch code {
    case "InvalidIdentityToken":
      "; check that the account has an identity provider with the issuer and the audience of the token"
    case "AccessDenied": "; check the role's name, and that its trust policy allows AssumeRoleWithWebIdentity"
    case "ExpiredTokenException": "; check the clock of this machine"
    case "IDPRejectedClaim": "; the identity provider does not accept the token any more"
    default: ""
    }
  }

  /// The keys as AWS's tools read them, and when they expire.
  private static func keys(in body: ArraySlice<UInt8>) -> (line: [UInt8], expiresAt: Timestamp)? {
    let names = ["AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"]
    var buffer: [UInt8] = []
    // All at once; a character may become two, and each value has its name, quotes and commas beside it.
    buffer.reserveCapacity(2 * body.count + 256)
    var writer = JSONWriter(appendingTo: buffer)
    var (isWhole, expiresAt) = (true, Timestamp?.none)
    writer.object { writer in
      writer.member("Version", 1)
      for name in names {
        var value = text(of: name, in: body) ?? []
        defer { wipe(&value) }
        isWhole = isWhole && !value.isEmpty && value.allSatisfy { (0x21...0x7E).contains($0) }
        writer.key(name)
        writer.string(utf8: value.span)
        expiresAt = Timestamp(String(decoding: value, as: UTF8.self))
      }
    }
    if isWhole, let expiresAt { return (writer.bytes, expiresAt) }
    wipe(&writer.bytes)
    return nil
  }

  /// The part of a server's words that may be shown to a person.
  private static func shown(_ name: String, in body: ArraySlice<UInt8>, without token: Secret) -> String? {
    guard let words = text(of: name, in: body) else { return nil }
    var bytes = SecretText.bytes("", token)
    defer { wipe(&bytes) }
    guard words.firstOccurrence(of: bytes) == nil, String(validating: words, as: UTF8.self) != nil else { return "" }
    let line = words.split { $0 <= 0x20 }.joined(separator: [0x20])
    return String(PlainText.line(line).prefix(400))
  }

  /// The text of an element, with its references resolved; nil where there is none of its name, several, or an empty one.
  ///
  /// What else XML can have is nothing that the service answers with: comments, CDATA, other references.
  static func text(of name: String, in body: ArraySlice<UInt8>) -> [UInt8]? {
    let open = Array("<\(name)>".utf8)
    guard let start = body.firstOccurrence(of: open)?.upperBound,
      let end = body[start...].firstIndex(of: UInt8(ascii: "<")), body[end...].starts(with: "</\(name)>".utf8),
      start < end, body[end...].firstOccurrence(of: open) == nil, body.firstOccurrence(of: Array("<!".utf8)) == nil
    else { return nil }
    var rest = body[start..<end]
    var text: [UInt8] = []
    // A reference is longer than what it stands for.
    text.reserveCapacity(rest.count)
    let references: [(String, UInt8)] = [
      ("amp;", 0x26), ("lt;", 0x3C), ("gt;", 0x3E), ("quot;", 0x22), ("apos;", 0x27),
    ]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "&") else {
        text.append(byte)
        continue
      }
      guard let (name, character) = references.first(where: { rest.starts(with: $0.0.utf8) }) else {
        wipe(&text)
        return nil
      }
      text.append(character)
      rest = rest.dropFirst(name.utf8.count)
    }
    return text
  }
}
