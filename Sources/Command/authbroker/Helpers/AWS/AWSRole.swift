import LinuxSystem
import SecretMemory
import TextCoding

/// The role whose keys are asked for, and where.
struct AWSRole: Sendable {
  /// Names the role.
  static let roleOption = Option.value("--role-arn", "ARN", "the role; else AWS_ROLE_ARN")
  /// Names the session.
  static let sessionOption = Option.value(
    "--session-name", "NAME", "what AWS's logs call the session; else AWS_ROLE_SESSION_NAME, else authbroker")
  /// How long the keys live.
  static let durationOption = Option.value(
    "--duration", "SECONDS", "how long the keys live, 900 to 43200; else what AWS gives, an hour")
  /// The option that names the service for the keys.
  static let endpointOption = Option.value("--sts-url", "URL", "the address of the Security Token Service")
  /// All of them.
  static let options = [roleOption, sessionOption, durationOption, endpointOption]

  /// The longest token that the service takes, in bytes (AssumeRoleWithWebIdentity, `WebIdentityToken`).
  static let longestToken = 20_000

  /// The Amazon Resource Name of the role.
  let arn: String
  /// The name of the session.
  let session: String
  /// How long the keys live, in seconds; nil: as the service likes.
  let duration: Int?
  /// The address of the service: `https://`, or `http://` on this machine.
  let url: String

  /// Reads the command line and the environment.
  ///
  /// - Throws: a usage failure for what the service would not take.
  init(_ context: Context) throws(CommandFailure) {
    let (arguments, environment) = (context.arguments, context.environment)
    guard let arn = Self.name(arguments, environment) else {
      throw .usage("no role is named; use --role-arn ARN, or set AWS_ROLE_ARN")
    }
    guard arn.hasPrefix("arn:"), (20...2048).contains(arn.utf8.count), HelperAnswer.isVisible(arn) else {
      throw .usage("\(arn.shellQuoted) is not the ARN of a role, such as arn:aws:iam::123456789012:role/developer")
    }
    let session = arguments[Self.sessionOption.name] ?? environment.filled("AWS_ROLE_SESSION_NAME") ?? "authbroker"
    let isName = session.utf8.allSatisfy { PercentEncoding.isUnreserved($0) && $0 != 0x7E || "+=,@".utf8.contains($0) }
    guard isName, (2...64).contains(session.utf8.count) else {
      throw .usage("\(session.shellQuoted) is not a session name; use 2 to 64 letters, digits or any of _+=,.@-")
    }
    duration = try arguments.count(Self.durationOption.name)
    if let duration, !(900...43_200).contains(duration) {
      throw .usage("--duration needs a number of seconds from 900 to 43200, not \(duration)")
    }
    guard let url = arguments[Self.endpointOption.name] ?? Self.service(environment) else {
      throw .usage("AWS_REGION or AWS_DEFAULT_REGION is not a region, such as eu-central-1")
    }
    guard let address = Self.address(url) else {
      throw .usage(
        "\(url.shellQuoted) is not an https:// address; use https://HOST/, or http:// for a service on this machine")
    }
    (self.arn, self.session, self.url) = (arn, session, address)
  }

  /// All that is asked for.
  var purpose: String { "\(arn) \(session) \(duration.map { String($0) } ?? "-") \(url)" }

  /// The role that is named; nil where none is.
  static func name(_ arguments: Arguments, _ environment: EnvironmentVariables) -> String? {
    arguments[roleOption.name] ?? environment.filled("AWS_ROLE_ARN")
  }

  /// The address that AWS's tools would speak to in an environment; nil for a region that cannot be one.
  ///
  /// Without a region it is the service for all of them (AWS SDKs and Tools Reference Guide, "Service-specific
  /// endpoints", "AWS STS Regional endpoints").
  static func service(_ environment: EnvironmentVariables) -> String? {
    if let url = environment.filled("AWS_ENDPOINT_URL_STS") ?? environment.filled("AWS_ENDPOINT_URL") { return url }
    guard let region = environment.filled("AWS_REGION") ?? environment.filled("AWS_DEFAULT_REGION") else {
      return "https://sts.amazonaws.com/"
    }
    guard region.utf8.allSatisfy({ PercentEncoding.isUnreserved($0) && !"._~".utf8.contains($0) }) else { return nil }
    return "https://sts.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")/"
  }

  /// An address that a token may be sent to, with a path; nil for any other, and for one with a user name, a query or a
  /// fragment.
  static func address(_ url: String) -> String? {
    // No byte of it means something to curl.
    guard let parts = AddressParts(url), parts.user == nil, let server = parts.server,
      parts.scheme == "https" || parts.scheme == "http" && server.isLoopback,
      parts.rest.utf8.allSatisfy({ PercentEncoding.isUnreserved($0) || "/%:".utf8.contains($0) })
    else { return nil }
    return parts.rest.isEmpty ? url + "/" : url
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
}

extension EnvironmentVariables {
  /// A variable that is set to more than nothing.
  fileprivate func filled(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }
}
