import BrokerProtocol
import SecretMemory

/// `authbroker helper go`: the credentials of the go command for module mirrors and private modules (`go help goauth`).
enum GoHelper: ToolHelper {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "helper go",
    operands: "[ADDRESS]",
    summary: "Give the go command the header for an address",
    details: """
      To be set as
        GOAUTH="authbroker helper go"
      The go command runs it first without an address, which gives nothing, so that a token leaves the broker only for a
      server that has asked for one; then with the address that was refused. Needs Go 1.24 or later.
      """)

  /// Prints the target and its header; nothing where there is none.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...1, of: self)
    guard let address = context.arguments.operands.first, address.hasPrefix("https://") else { return }
    // What the server answered: it must be taken, and says nothing that changes the answer.
    _ = ToolInput.read()
    var broker = try HelperBroker(context)
    guard let target = try broker.target(ofFirst: [address]) else { return }
    let token = try broker.token(for: target)
    Output.line(answer(token.accessToken, for: target))
  }

  /// One set of credentials: an address, a blank line, a header, and a blank line (whose end the caller writes).
  static func answer(_ token: Secret, for target: Target) -> [UInt8] {
    var value = AuthorizationValue.bytes(token, for: target)
    defer { wipe(&value) }
    let lead = "\(target.url)\n\nAuthorization: "
    var answer: [UInt8] = []
    answer.reserveCapacity(lead.utf8.count + value.count + 2)
    answer.append(contentsOf: lead.utf8)
    answer.append(contentsOf: value)
    answer.append(UInt8(ascii: "\n"))
    return answer
  }
}
