import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory
import StateDirectory

/// The session of another program, as a text describes it.
struct ImportedSession {
  /// The refresh token.
  let refreshToken: Secret
  /// The scopes that it was issued for; nil where they are not known.
  let scopes: [String]?

  /// The longest text: two tokens of the longest that the broker takes, and room for the rest.
  private static let longest = 256 * 1024
  private static let members = ["refreshToken", "accessToken", "expiresAt", "scopes"]

  /// Reads standard input to its end.
  ///
  /// - Throws: a usage failure that says what is wrong, and repeats no value; nothing was sent then.
  static func read() throws(CommandFailure) -> ImportedSession {
    var text = [UInt8](repeating: 0, count: longest + 1)
    defer { wipe(&text) }
    let stream = FileDescriptor(owning: 0)
    var filled = 0
    while filled < text.count, case .bytes(let count) = stream.read(into: &text, at: filled) { filled += count }
    _ = stream.release()
    guard filled < text.count else { throw refusal("standard input is longer than \(longest / 1024) KiB") }
    text.removeLast(text.count - filled)
    return try session(in: text)
  }

  /// A function of its own: the nodes of the text, which share its bytes, end with it.
  private static func session(in text: [UInt8]) throws(CommandFailure) -> ImportedSession {
    guard !text.isEmpty else { throw refusal("standard input is empty") }
    let root: JSONNode
    do throws(JSONError) { root = try JSONDocument(parsing: text).root } catch {
      throw refusal("standard input is not JSON: \(error.reason.rawValue) (byte \(error.offset))")
    }
    guard let given = try? root.members() else { throw refusal("standard input must be an object") }
    if let name = given.first(where: { !members.contains($0.name) })?.name { throw unknown(name) }
    do throws(JSONMismatch) { return try ImportedSession(from: root) } catch {
      throw refusal("\(error.pointer.description.dropFirst()) must be \(error.expected)")
    }
  }

  private init(from root: JSONNode) throws(JSONMismatch) {
    let node = try root.required("refreshToken")
    refreshToken = try node.token()
    guard refreshToken.byteCount > 0, RefreshTokenSource.isWhole(refreshToken) else {
      throw node.mismatch("a refresh token: a text without blanks, control characters and letters beyond ASCII")
    }
    _ = try root.optional("accessToken") { node throws(JSONMismatch) in try node.withStringBytes { $0.count } }
    _ = try root.optional("expiresAt", Timestamp.init(from:))
    scopes = try root.optional("scopes") { node throws(JSONMismatch) in
      try node.list { scope throws(JSONMismatch) in try scope.string() }
    }
  }

  private static func unknown(_ name: String) -> CommandFailure {
    // A long name is no name, and may be a secret in the wrong place.
    guard name.utf8.count <= longestName else { return refusal("standard input has an unknown member") }
    let likely = Spelling.nearest(to: name, among: members)
    let advice = likely.map { "did you mean \($0)?" } ?? "use \(members.joined(separator: ", "))"
    return refusal("unknown member \(PlainText.line(name.utf8).shellQuoted); \(advice)")
  }

  private static let longestName = 32

  private static func refusal(_ sentence: String) -> CommandFailure {
    CommandFailure(.usage, sentence.hasSuffix("?") ? sentence : sentence + "; nothing was sent")
  }
}
