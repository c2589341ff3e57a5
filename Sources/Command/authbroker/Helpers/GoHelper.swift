import BrokerProtocol
import SecretMemory

/// `authbroker helper go`: the credentials of the go command for module mirrors and private modules (`go help goauth`).
enum GoHelper: ToolHelper {
  static let name = "helper go"
  static let about = CommandDescription(
    operands: "[ADDRESS]",
    summary: "Give the go command the header for an address",
    details: """
      To be set as
        GOAUTH="authbroker helper go"
      The go command runs it first without an address, which gives nothing, so that a token leaves the broker only for a
      server that has asked for one; then with the address that was refused. Needs Go 1.24 or later.
      """,
    examples: ["authbroker helper go https://go.example.com/mod"])

  /// Prints the target and its header; nothing where there is none.
  static func run(_ context: Context) throws(CommandFailure) {
    guard let address = context.arguments.operands.first, isAddress(address) else { return }
    // What the server answered: it must be taken, and says nothing that changes the answer.
    _ = try ToolLines.all()
    var broker = try HelperBroker(context, sending: .any)
    guard let grant = try broker.grant(forFirst: [address]) else { return }
    Output.line(answer(grant.token, for: grant.target, asked: address))
  }

  /// Whether a word can stand in a line of the answer.
  private static func isAddress(_ word: String) -> Bool {
    word.hasPrefix("https://") && word.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// One set of credentials: addresses, a blank line, a header, and a blank line (whose end the caller writes).
  ///
  /// - Parameters:
  ///   - token: the token.
  ///   - target: what it is for; its address is a prefix of all that the token is good for.
  ///   - address: the address that was asked for: Go 1.24 finds no prefix that has a path.
  /// - Returns: bytes that the caller wipes.
  static func answer(_ token: AccessToken, for target: Target, asked address: String) -> [UInt8] {
    var (name, value) = AuthorizationValue.field(with: token, for: target)
    defer { wipe(&value) }
    let addresses = target.url == address ? address : "\(target.url)\n\(address)"
    let lead = "\(addresses)\n\n\(name): "
    var answer: [UInt8] = []
    answer.reserveCapacity(lead.utf8.count + value.count + 2)
    answer.append(contentsOf: lead.utf8)
    answer.append(contentsOf: value)
    answer.append(UInt8(ascii: "\n"))
    return answer
  }
}
