import AuthBrokerClient
import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory

/// `authbroker call`.
enum CallCommand: Command {
  static let name = "call"
  static let about = CommandDescription(
    operands: "METHOD [JSON|-]",
    summary: "Call a method of the broker and print its result as JSON",
    details: """
      JSON is the params, an object; - reads them from standard input, which anything that holds a secret requires.
      `authbroker call rpc.discover` lists the methods.
      """,
    operandCompletion: .methods,
    examples: ["authbroker call getStatus", #"authbroker call getSession '{"profile": "work"}'"#])

  /// Members of params that are secrets, which must not stand in an argument.
  static let secrets: Set<String> = [
    "password", "oldPassword", "newPassword", "code", "backupCode", "refreshToken", "accessToken", "token",
    "passphrase", "newPassphrase", "redirectUrl",
  ]
  /// The longest message that the broker takes.
  private static let longest = JSONLimits.standard.byteCount

  /// Sends the request and prints the result as it came.
  static func run(_ context: Context) throws(CommandFailure) {
    var params = try params(context.arguments.operands)
    defer { wipe(&params) }
    var connection = try context.connect()
    do throws(CommandFailure) {
      Output.json(
        try context.text(of: context.arguments.operands[0], RawJSON(text: params), on: &connection, within: nil))
    } catch {
      guard let own = error.error, own.kind == .methodNotFound else { throw error }
      let next = NextCommand("see", "call", "rpc.discover")
      throw error.saying(Message(BrokerSentence.plain(own.message), next: next))
    }
  }

  private static func params(_ operands: [String]) throws(CommandFailure) -> [UInt8] {
    guard operands.count > 1 else { return Array("{}".utf8) }
    let isFromInput = operands[1] == "-"
    let text = isFromInput ? try standardInput() : Array(operands[1].utf8)
    let root: JSONNode
    do throws(JSONError) { root = try JSONDocument(parsing: text).root } catch {
      throw .usage("the params are not JSON: \(error.reason.rawValue) (byte \(error.offset))")
    }
    for name in secrets where !isFromInput && root[name] != nil {
      throw .usage("\(name) is a secret and other programs can read arguments; give the params on standard input (-)")
    }
    // One line, whatever blanks stand between the values.
    return text.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
  }

  private static func standardInput() throws(CommandFailure) -> [UInt8] {
    let stream = FileDescriptor(owning: 0)
    var text = [UInt8](repeating: 0, count: longest)
    var filled = 0
    while filled < longest, case .bytes(let count) = stream.read(into: &text, at: filled) { filled += count }
    _ = stream.release()
    guard filled < longest else { throw CommandFailure(.usage, "the params are longer than the broker accepts") }
    text.removeLast(text.count - filled)
    return text
  }
}
