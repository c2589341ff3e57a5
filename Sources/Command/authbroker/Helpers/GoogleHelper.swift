import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory

/// `authbroker helper google`: an executable for Google's workload identity federation, `external_account` credentials
/// with an `executable` source (google-auth, pluggable.py; cloud.google.com, "Executable-sourced credentials").
///
/// Google's libraries read its standard error as part of its answer, so it writes nothing there; and they show an error
/// only if the exit code is 0.
enum GoogleHelper: ToolHelper {
  /// The types of subject tokens that are the token of a profile (RFC 8693, section 3).
  enum TokenType: String {
    case idToken = "urn:ietf:params:oauth:token-type:id_token"
    case jwt = "urn:ietf:params:oauth:token-type:jwt"
  }

  /// An answer without a token.
  struct Refusal: Error, Equatable {
    /// A stable name of the reason.
    let code: String
    /// The message for people.
    let message: String
  }

  static let name = "helper google"
  static let about = CommandDescription(
    summary: "Give Google's client libraries a token to exchange",
    details: """
      Prints the token in the form that an `external_account` configuration with an `executable` expects: the ID token
      for the subject token type id_token (the profile must have allowIdToken: true), the access token for jwt. Without
      --profile, the target is the audience that Google's library names, such as
        https://iam.googleapis.com/projects/12345/locations/global/…
      Errors are part of the answer; the exit code is 0 for them too.
      """,
    examples: ["authbroker helper google -p cloud"])

  /// Answers one request.
  static func run(_ context: Context) throws(CommandFailure) {
    // Also the warning of a broker with another version would be read as part of the answer.
    do throws(Errno) { try FileDescriptor.open("/dev/null", .write).replace(2) } catch {
      throw CommandFailure(.failure, "standard error cannot be closed: \(error)")
    }
    do throws(CommandFailure) { Output.line(try answer(context)) } catch {
      let code = error.error?.kind.rawValue ?? error.kind
      Output.line(text(of: Refusal(code: code, message: error.message.text(for: context.arguments))))
    }
  }

  private static func answer(_ context: Context) throws(CommandFailure) -> [UInt8] {
    let environment = context.environment
    guard environment["GOOGLE_EXTERNAL_ACCOUNT_REVOKE"] != "1" else {
      let message = Message("sessions are not ended from here", next: NextCommand("log out with", "logout"))
      return text(of: Refusal(code: "unsupported", message: message.text(for: context.arguments)))
    }
    let name = environment["GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE"] ?? TokenType.idToken.rawValue
    guard let type = TokenType(rawValue: name) else {
      return text(of: Refusal(code: "unsupported", message: "the subject token type must be id_token or jwt"))
    }
    var broker = try HelperBroker(context, sending: .bearer)
    let audience = environment["GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE"] ?? ""
    // Asked by hand, there is none, and a profile is enough.
    let address = audience.isEmpty ? "" : "https:" + audience
    switch type {
    case .idToken:
      guard let target = try broker.target(ofFirst: [address]) else { return unknown(address, context) }
      let token = try broker.identityToken(of: target.profile)
      return text(of: token.idToken, type, token.expiresAt)
    case .jwt:
      guard let grant = try broker.grant(forFirst: [address]) else { return unknown(address, context) }
      return text(of: grant.token.accessToken, type, grant.token.expiresAt)
    }
  }

  private static func unknown(_ address: String, _ context: Context) -> [UInt8] {
    let what =
      address.isEmpty
      ? "GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE is not set" : "\(address) \(HelperBroker.notConfigured)"
    let next = address.isEmpty ? nil : HelperBroker.addition(of: address)
    let whole = Message(what + "; name a profile with --profile", next: next).text(for: context.arguments)
    return text(of: Refusal(code: ErrorKind.unknownTarget.rawValue, message: whole))
  }

  /// The answer with a token.
  ///
  /// - Returns: JSON, which the caller wipes.
  static func text(of token: Secret, _ type: TokenType, _ expiresAt: Timestamp?) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("version")
      writer.integer(1)
      writer.member("success", true)
      writer.member("token_type", type.rawValue)
      writer.member(revealing: "id_token", token)
      guard let expiresAt else { return }
      writer.key("expiration_time")
      writer.integer(expiresAt.milliseconds / 1000)
    }
    return writer.bytes
  }

  /// The answer with a reason.
  static func text(of refusal: Refusal) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("version")
      writer.integer(1)
      writer.member("success", false)
      writer.member("code", refusal.code)
      writer.member("message", refusal.message)
    }
    return writer.bytes
  }
}
