import LinuxSystem
import SecretMemory
import TextCoding

/// The role whose keys are asked for, and where.
struct AWSRole: Equatable, Sendable {
  /// Names the role.
  static let roleOption = Option.value("--role-arn", "ARN", "the role; else AWS_ROLE_ARN")
  /// Names the session.
  static let sessionOption = Option.value(
    "--session-name", "NAME", "what AWS's logs call the session; else AWS_ROLE_SESSION_NAME, else authbroker")
  /// How long the keys live.
  static let durationOption = Option.value(
    "--duration", "SECONDS", "how long the keys live, 900 to 43200; else what AWS gives, an hour")
  /// Where the keys are asked for.
  static let endpointOption = Option.value("--sts-url", "URL", "the address of the Security Token Service")
  /// All of them.
  static let options = [roleOption, sessionOption, durationOption, endpointOption]

  /// The longest token that the service takes, in bytes (AssumeRoleWithWebIdentity, `WebIdentityToken`).
  static let longestToken = 20_000
  /// How long the service is asked again while something passes: what runs a `credential_process` waits for it.
  static let patience = Duration.seconds(15)
  /// Until it is asked for the second time; each later pause is twice as long.
  private static let firstPause = Duration.milliseconds(300)
  private static let defaultSession = "authbroker"

  /// The Amazon Resource Name of the role.
  let arn: String
  /// The name of the session.
  let session: String
  /// How long the keys live, in seconds; nil: as the service likes.
  let duration: Int?
  /// The service.
  let endpoint: AWSEndpoint

  /// Reads the command line and the environment.
  ///
  /// - Throws: a usage failure for what the service would not take.
  init(_ context: Context) throws(CommandFailure) {
    let (arguments, environment) = (context.arguments, context.environment)
    arn = try Self.arn(arguments, environment)
    session = try Self.session(arguments, environment)
    duration = try Self.duration(arguments)
    let url = arguments[Self.endpointOption.name] ?? AWSEndpoint.standard(environment)
    guard let url else {
      throw .usage("AWS_REGION or AWS_DEFAULT_REGION is not a region, such as eu-central-1")
    }
    guard let endpoint = AWSEndpoint(url) else {
      throw .usage(
        "\(url.shellQuoted) is not an https:// address; use https://HOST/, or http:// for a service on this "
          + "machine")
    }
    self.endpoint = endpoint
  }

  /// All that is asked for.
  var purpose: String { "\(arn) \(session) \(duration.map { String($0) } ?? "-") \(endpoint.url)" }

  /// The role that is named; nil where none is.
  static func name(_ arguments: Arguments, _ environment: EnvironmentVariables) -> String? {
    arguments[roleOption.name] ?? environment["AWS_ROLE_ARN"].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The role's name.
  ///
  /// - Throws: a usage failure for none, and for one that cannot be one: 20 to 2048 characters, `arn:…`.
  static func arn(
    _ arguments: Arguments, _ environment: EnvironmentVariables
  ) throws(CommandFailure) -> String {
    guard let arn = name(arguments, environment) else {
      throw .usage("no role is named; use --role-arn ARN, or set AWS_ROLE_ARN")
    }
    guard arn.hasPrefix("arn:"), (20...2048).contains(arn.utf8.count), HelperAnswer.isVisible(arn) else {
      throw .usage("\(arn.shellQuoted) is not the ARN of a role, such as arn:aws:iam::123456789012:role/developer")
    }
    return arn
  }

  private static func session(
    _ arguments: Arguments, _ environment: EnvironmentVariables
  ) throws(CommandFailure) -> String {
    let given = arguments[sessionOption.name] ?? environment["AWS_ROLE_SESSION_NAME"].flatMap { $0.isEmpty ? nil : $0 }
    guard let given else { return defaultSession }
    let isName =
      (2...64).contains(given.utf8.count)
      && given.utf8.allSatisfy { byte in
        PercentEncoding.isUnreserved(byte) && byte != UInt8(ascii: "~") || "+=,@".utf8.contains(byte)
      }
    guard isName else {
      throw .usage("\(given.shellQuoted) is not a session name; use 2 to 64 letters, digits or any of _+=,.@-")
    }
    return given
  }

  private static func duration(_ arguments: Arguments) throws(CommandFailure) -> Int? {
    guard let seconds = try arguments.count(durationOption.name) else { return nil }
    guard (900...43_200).contains(seconds) else {
      throw .usage("--duration needs a number of seconds from 900 to 43200, not \(seconds)")
    }
    return seconds
  }

  /// The content of the request, as a form.
  ///
  /// - Returns: bytes that the caller wipes; nil for a token that is longer than the service takes.
  func form(_ token: Secret) -> [UInt8]? {
    var parts = [
      ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", arn),
      ("RoleSessionName", session),
    ]
    if let duration { parts.append(("DurationSeconds", String(duration))) }
    let start = parts.map { "\($0.0)=\(PercentEncoding.encoded($0.1))" }.joined(separator: "&") + "&WebIdentityToken="
    return token.withBytes { bytes in
      guard bytes.count <= Self.longestToken else { return nil }
      var form: [UInt8] = []
      form.reserveCapacity(start.utf8.count + 3 * bytes.count)
      form.append(contentsOf: start.utf8)
      for index in bytes.indices { PercentEncoding.append(bytes[index], as: .component, to: &form) }
      return form
    }
  }

  /// Asks the service, and once more where it refuses the token and there is another.
  ///
  /// - Parameters:
  ///   - token: what is exchanged.
  ///   - post: sends the request.
  ///   - other: gives the token to use in place of the one that was refused.
  /// - Returns: the last answer.
  /// - Throws: what `other` throws; a failure with code 5 where the service does not answer.
  func exchange(
    _ token: Secret, _ post: CurlPost, insteadOf other: () throws(CommandFailure) -> Secret
  ) throws(CommandFailure) -> STSAnswer {
    let answer = try exchange(token, post)
    guard case .refusal(let refusal) = answer, refusal.isAboutToken else { return answer }
    let other = try other()
    return other == token ? answer : try exchange(other, post)
  }

  /// Asks the service, again while what is wrong passes (AssumeRoleWithWebIdentity, `IDPCommunicationError`, and "Common
  /// errors"): the same token may be sent as often as one likes.
  ///
  /// - Throws: a failure with code 5 where it does not answer.
  private func exchange(_ token: Secret, _ post: CurlPost) throws(CommandFailure) -> STSAnswer {
    let deadline = BootClock.now + Self.patience
    var pause = Self.firstPause
    while true {
      let answer: Result<STSAnswer, CommandFailure>
      var passes = false
      do throws(CommandFailure) {
        let found = try ask(token, post, within: min(CurlPost.limit, deadline - BootClock.now), &passes)
        if case .refusal(let refusal) = found { passes = refusal.isOutage }
        if case .malformed(let status) = found { passes = status >= 500 }
        answer = .success(found)
      } catch { answer = .failure(error) }
      // Processes that were refused together do not come back together.
      let wait = pause + pause * (BootClock.nanoseconds % 1000) / 2000
      guard passes, BootClock.now + wait + .seconds(1) < deadline else { return try answer.get() }
      var poll = PollSet(count: 0)
      _ = try? poll.wait(atMost: wait)
      pause *= 2
    }
  }

  /// Asks the service once.
  ///
  /// - Throws: a failure with code 5 where it does not answer.
  private func ask(
    _ token: Secret, _ post: CurlPost, within limit: Duration, _ passes: inout Bool
  ) throws(CommandFailure) -> STSAnswer {
    guard var form = form(token) else {
      throw CommandFailure(
        .failure, "the token is longer than the \(Self.longestToken) bytes that AWS takes; let it have fewer claims")
    }
    defer { wipe(&form) }
    var answer = try post.send(form, within: limit, &passes)
    defer { wipe(&answer.body) }
    return STSAnswer(answer.body, status: answer.status, without: token)
  }
}
