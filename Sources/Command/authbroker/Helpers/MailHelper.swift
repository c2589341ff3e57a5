import BrokerProtocol
import SecretMemory
import TextCoding

/// `authbroker helper sasl`: the first message of a mail client that logs in with an access token.
///
/// For programs that do not make it themselves; msmtp, mbsync and neomutt make it from the bare token of `token`.
enum MailHelper: ToolHelper {
  static let name = "helper sasl"
  static let about = CommandDescription(
    operands: "ADDRESS [USER]",
    summary: "Print the first SASL message that logs a mail client in",
    details: """
      For programs that want the whole message of XOAUTH2 or OAUTHBEARER, in Base64.
      The address names the server, such as imaps://imap.example.com or
      smtp://smtp.example.com:587; the user is the target's `username` unless given.
      Programs that want only the token take it from the command token.
      """,
    options: [.value("--mechanism", "NAME", "xoauth2 (the default) or oauthbearer")],
    examples: ["authbroker helper sasl imaps://imap.example.com ann@example.com"])

  /// Prints the message.
  static func run(_ context: Context) throws(CommandFailure) {
    let operands = context.arguments.operands
    let mechanism = (context.arguments["--mechanism"] ?? "xoauth2").lowercased()
    guard ["xoauth2", "oauthbearer"].contains(mechanism) else {
      throw .usage("unknown mechanism \(mechanism.shellQuoted); use xoauth2 or oauthbearer")
    }
    guard let server = MailServerAddress(operands[0]) else {
      throw .usage("ADDRESS must be an address such as imaps://imap.example.com:993")
    }
    var broker = try HelperBroker(context, sending: .bearer)
    let grant = try broker.configuredGrant(for: TargetUser.named(operands.dropFirst().first, in: operands[0]))
    guard let user = operands.dropFirst().first ?? grant.target.username else {
      throw .usage("the target has no username; name the user behind the address")
    }
    let token = grant.token.accessToken
    let message =
      mechanism == "xoauth2"
      ? SASLResponse.xoauth2(user, token)
      : SASLResponse.oauthbearer(user, server: (server.host, server.port), token)
    guard var message else { throw .usage("a user's name has no control characters") }
    defer { wipe(&message) }
    var line: [UInt8] = []
    line.reserveCapacity(Base64.characterCount(of: message.count, as: .padded) + 1)
    Base64.append(message.span, as: .padded, to: &line)
    Output.line(line)
  }
}
