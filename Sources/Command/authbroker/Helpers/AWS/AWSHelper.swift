import BrokerProtocol
import LinuxSystem
import SecretMemory

/// `authbroker helper aws`: a `credential_process` of AWS's tools (AWS SDKs and Tools Reference Guide, "Process
/// credential provider").
///
/// AWS takes keys and no tokens: this exchanges the token for keys by AssumeRoleWithWebIdentity (AWS Security Token
/// Service API Reference), with curl, as the client has no code for HTTP.
enum AWSHelper: ToolHelper {
  /// Asks for the access token in place of the ID token.
  static let accessOption = Option.flag("--access", "exchange the access token, a JWT, in place of the ID token")

  static let name = "helper aws"
  static let about = CommandDescription(
    summary: "Give AWS's tools the keys of a role",
    details: """
      Exchanges the ID token for keys that expire, and prints them as AWS's tools expect it of a credential_process. The
      profile must have allowIdToken: true, and the account must know the identity provider. The keys are asked for at
      --sts-url, AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL, else that of the region (AWS_REGION, AWS_DEFAULT_REGION).
      Without --profile, that address must be a configured target.

      The program curl makes the request; the token is in no list of processes and in no file. What may pass is tried again
      for 15 seconds. Commands that want the same keys within 3 seconds share one exchange; nothing is kept beyond that.
      """,
    options: AWSRole.options + [accessOption],
    examples: ["authbroker helper aws --role-arn arn:aws:iam::123456789012:role/dev -p work"])

  /// Prints the keys.
  static func run(_ context: Context) throws(CommandFailure) {
    let role = try AWSRole(context)
    let exchange = try AWSExchange(of: role, context.environment.all)
    var broker = try HelperBroker(context, sending: .bearer)
    let target = try broker.configuredTarget(of: role.url)
    let access = context.arguments.has(accessOption.name) ? try broker.token(for: target) : nil
    let token = if let access { access.accessToken } else { try broker.identityToken(of: target.profile).idToken }
    let shared = SharedExchange("\(target.profile) \(role.purpose)", token, in: try context.paths())
    let ask = { (broker: inout HelperBroker) throws(CommandFailure) in
      try exchange.keys(for: token) { () throws(CommandFailure) in
        if let access { return try broker.token(insteadOf: access.tokenID, for: target).accessToken }
        return try broker.identityToken(insteadOf: token, of: target.profile).idToken
      }
    }
    guard let shared else { return Output.line(try ask(&broker)) }
    Output.line(try shared.answer { () throws(CommandFailure) in try ask(&broker) })
  }
}
