import BrokerProtocol
import JSON
import SecretMemory
import StateDirectory

/// What the Security Token Service answers (AWS Security Token Service API Reference, AssumeRoleWithWebIdentity, and
/// "Common errors").
enum STSAnswer {
  /// Keys, as AWS's tools read them: JSON, which is wiped where it is printed.
  case keys([UInt8])
  /// Keys that have expired already, since a tool would take them for good ones until the next refusal.
  case expired
  /// Why there are none.
  case refusal(Refusal)
  /// Something else than an answer of the service.
  case malformed(status: Int)

  /// An error of the service.
  struct Refusal: Equatable {
    /// The service's name of it.
    let code: String
    /// The service's words, in one line; empty where there are none.
    let message: String
    /// The status of HTTP.
    let status: Int

    /// Whether another token may be taken.
    var isAboutToken: Bool { status < 500 && ["ExpiredTokenException", "InvalidIdentityToken"].contains(code) }

    /// Whether the same may be taken later.
    var isOutage: Bool { status >= 500 || status == 429 || Self.passing.contains(code) }

    /// What passes: the service asks the identity provider for its keys, and counts its callers.
    private static let passing = [
      "IDPCommunicationError", "Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException",
      "ServiceUnavailable", "InternalFailure", "RequestTimeout",
    ]
  }

  private static let longestMessage = 400
  private static let credentials =
    "AssumeRoleWithWebIdentityResponse/AssumeRoleWithWebIdentityResult/Credentials/"

  /// Reads an answer.
  ///
  /// - Parameters:
  ///   - body: XML.
  ///   - status: the status of HTTP.
  ///   - token: what was sent; an answer that repeats it is not shown.
  ///   - now: the present moment.
  init(_ body: [UInt8], status: Int, without token: Secret, now: Timestamp = LocalTime.now) {
    guard let leaves = try? XMLText.leaves(of: body) else {
      self = .malformed(status: status)
      return
    }
    let text = { (path: String) -> [UInt8]? in
      let found = leaves.filter { $0.path == path }
      guard found.count == 1, !found[0].text.isEmpty else { return nil }
      return try? XMLText.resolved(body[found[0].text])
    }
    if status == 200, var read = Self.keys(text) {
      let isGood = read.expiresAt > now
      if !isGood { wipe(&read.keys) }
      self = isGood ? .keys(read.keys) : .expired
    } else if status != 200, let code = text("ErrorResponse/Error/Code") {
      let message = Self.shown(text("ErrorResponse/Error/Message") ?? [], without: token)
      self = .refusal(Refusal(code: Self.shown(code, without: token), message: message, status: status))
    } else {
      self = .malformed(status: status)
    }
  }

  private static func keys(_ text: (String) -> [UInt8]?) -> (keys: [UInt8], expiresAt: Timestamp)? {
    let names = ["AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"]
    var values: [[UInt8]] = []
    defer { for index in values.indices { wipe(&values[index]) } }
    for name in names {
      guard let value = text(credentials + name), !value.isEmpty, value.allSatisfy({ (0x21...0x7E).contains($0) })
      else { return nil }
      values.append(value)
    }
    guard let expiresAt = Timestamp(String(decoding: values[3], as: UTF8.self)) else { return nil }
    var buffer: [UInt8] = []
    // All at once; a character may become two, and each value has its name, quotes and commas beside it.
    buffer.reserveCapacity(values.reduce(32) { $0 + 2 * $1.count + 32 })
    var writer = JSONWriter(appendingTo: buffer)
    writer.object { writer in
      writer.key("Version")
      writer.integer(1)
      for (name, value) in zip(names, values) {
        writer.key(name)
        writer.string(utf8: value.span)
      }
    }
    return (writer.bytes, expiresAt)
  }

  /// What of a server's words is shown to a person.
  private static func shown(_ words: [UInt8], without token: Secret) -> String {
    var bytes = SecretText.bytes("", token)
    defer { wipe(&bytes) }
    guard words.firstOccurrence(of: bytes) == nil, String(validating: words, as: UTF8.self) != nil else { return "" }
    return String(PlainText.line(words).prefix(longestMessage))
  }

  /// The line to print; the caller wipes it.
  ///
  /// - Throws: what a person is told of anything but keys.
  func output(for role: AWSRole) throws(CommandFailure) -> [UInt8] {
    switch self {
    case .keys(let keys): return keys
    case .expired:
      throw CommandFailure(
        .providerUnavailable,
        "the keys of \(role.arn.shellQuoted) that \(role.endpoint.url) gave have expired; check the clock of this machine"
      )
    case .malformed(let status):
      throw CommandFailure(
        .providerUnavailable,
        "\(role.endpoint.url) gave no answer of AWS's Security Token Service (status \(status)); check the address")
    case .refusal(let refusal):
      let words = refusal.message.isEmpty ? "" : ": " + refusal.message
      guard !refusal.isOutage else {
        throw CommandFailure(
          .providerUnavailable, "no keys from \(role.endpoint.url) (\(refusal.code))\(words); try again later")
      }
      throw CommandFailure(
        .accessDenied,
        "AWS refused the keys of \(role.arn.shellQuoted) (\(refusal.code))\(words)\(Self.advice(refusal.code))")
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
}
