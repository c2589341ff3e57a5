import LinuxSystem
import SecretMemory
import StateDirectory

/// A form that the program curl sends, with all that may be secret on its standard input (curl(1), `--config`).
struct CurlPost: Sendable {
  /// What a server answered.
  struct Answer {
    /// The status of HTTP.
    let status: Int
    /// The content, which the caller wipes.
    var body: [UInt8]
  }

  /// How long one request may take: AWS's tools show nothing meanwhile.
  static let limit = Duration.seconds(9)
  /// The longest answer.
  static let longest = 64 * 1024
  private static let curl = "curl"
  /// No connection, no time left, a reply that broke off (curl(1), "EXIT CODES").
  private static let passing: [Int32] = [7, 18, 28, 52, 55, 56]

  private let program: String
  private let endpoint: AWSEndpoint
  private let environment: [String: String]

  /// Finds the program.
  ///
  /// - Throws: a failure where there is none.
  init(to endpoint: AWSEndpoint, _ environment: [String: String]) throws(CommandFailure) {
    guard let program = SearchPath.program(Self.curl, environment, where: { $0.isProgram }) else {
      throw CommandFailure(
        .failure, "curl is not on the PATH, and the request to AWS is made with it; install the package curl")
    }
    self.program = program
    self.endpoint = endpoint
    self.environment = environment
  }

  /// Sends a form and reads the answer, whatever its status is.
  ///
  /// - Parameters:
  ///   - form: the content.
  ///   - limit: how long it may take.
  ///   - passes: set where there is no answer for a reason that may pass.
  /// - Returns: the answer.
  /// - Throws: a failure with code 5 where there is none.
  func send(_ form: [UInt8], within limit: Duration, _ passes: inout Bool) throws(CommandFailure) -> Answer {
    let seconds = max(1, limit.components.seconds)
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
    passes = Self.passing.contains(done.code)
    guard done.code == 0 else { throw failure(done.code, within: seconds) }
    // The status is the last line.
    guard let end = done.output.lastIndex(of: UInt8(ascii: "\n")), end <= Self.longest,
      let status = Int(String(decoding: done.output[(end + 1)...], as: UTF8.self)), (100...599).contains(status)
    else { throw failure(63, within: seconds) }
    return Answer(status: status, body: Array(done.output[..<end]))
  }

  /// The request as a configuration of curl.
  ///
  /// - Parameters:
  ///   - form: escaped, so that no byte of it means something to curl.
  ///   - seconds: how long it may take.
  /// - Returns: bytes that the caller wipes.
  func settings(_ form: [UInt8], _ seconds: Int64 = CurlPost.limit.components.seconds) -> [UInt8] {
    var lines = [
      "url = \"\(endpoint.url)\"", "globoff", "silent", "proto = \"=\(endpoint.isPlain ? "http" : "https")\"",
      "max-redirs = 0", "max-time = \(seconds)", "max-filesize = \(Self.longest)",
      "user-agent = \"authbroker/\(ProgramVersion.number)\"", "header = \"Accept: text/xml\"",
      "write-out = \"\\n%{http_code}\"",
    ]
    if endpoint.isPlain { lines.append("noproxy = \"*\"") } else { lines.append("tlsv1.2") }
    if let authorities = environment["AWS_CA_BUNDLE"], !authorities.isEmpty, let text = Self.quoted(authorities) {
      lines.append("cacert = \(text)")
    }
    lines.append("data = \"")
    let lead = lines.joined(separator: "\n")
    var settings: [UInt8] = []
    settings.reserveCapacity(lead.utf8.count + form.count + 2)
    settings.append(contentsOf: lead.utf8)
    settings.append(contentsOf: form)
    settings.append(contentsOf: "\"\n".utf8)
    return settings
  }

  /// A value in quotes; nil where it has a character that a line cannot hold.
  private static func quoted(_ text: String) -> String? {
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    let escaped = text.utf8.flatMap { "\\\"".utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
    return "\"\(String(decoding: escaped, as: UTF8.self))\""
  }

  /// What an exit code means (curl(1), "EXIT CODES").
  private func failure(_ code: Int32, within seconds: Int64) -> CommandFailure {
    let what =
      switch code {
      case 5, 97: "the proxy cannot be reached"
      case 6: "its host is not known; check the region, or --sts-url"
      case 7: "it cannot be reached"
      case 28, 137: "it did not answer within \(seconds) s"
      case 60:
        "its certificate has expired, is another host's, or is signed by an untrusted authority; for a private authority "
          + "set AWS_CA_BUNDLE (curl: 60)"
      case 77: "the file of trusted authorities cannot be read; check AWS_CA_BUNDLE, then SSL_CERT_FILE (curl: 77)"
      case 35: "the TLS handshake failed; check that the port of its address speaks TLS (curl: 35)"
      case 51, 53, 54, 58, 59, 66, 80, 82, 83, 90, 91: "its certificate or TLS is not accepted (curl: \(code))"
      case 63: "its answer is not one of the Security Token Service"
      default: "the request failed (curl: \(code))"
      }
    return CommandFailure(.providerUnavailable, "no keys from \(endpoint.url): \(what)")
  }
}
