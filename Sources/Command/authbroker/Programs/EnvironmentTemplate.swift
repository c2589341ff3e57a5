import BrokerProtocol
import JSON
import SecretMemory

/// One `--env` of a command line: a variable, and what it holds.
///
/// `NAME` holds the token; `NAME=TEXT` holds the text with the token in place of `{token}`, and its expiry in place of
/// `{expiry}`.
struct EnvironmentTemplate: Equatable, Sendable {
  /// The option that gives one.
  static let option = Option.value(
    "--env", "NAME[=TEXT]",
    "the variable that holds the token (ACCESS_TOKEN); in TEXT, {token} and {expiry} are replaced")
  /// The variable without that option.
  static let standardName = "ACCESS_TOKEN"
  /// The placeholder of the token.
  private static let tokenWord = "{token}"
  /// The placeholder of the expiry: RFC 3339 in UTC.
  private static let expiryWord = "{expiry}"
  /// Variables that decide which code a program loads or runs: no token belongs there.
  private static let refused: Set = ["PATH", "IFS", "ENV", "BASH_ENV", "SHELL", "HOME"]

  /// The variable's name.
  let name: String
  /// The template of the value.
  let text: String

  /// Reads one.
  ///
  /// - Throws: a usage failure for an empty name, one of the dynamic loader's or a shell's own, and for a text without a
  ///   place for anything.
  init(_ word: String) throws(CommandFailure) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    name = parts[0]
    text = parts.count > 1 ? parts[1] : Self.tokenWord
    guard !name.isEmpty else { throw .usage("--env needs the name of a variable") }
    guard name.utf8.first.map({ (0x30...0x39).contains($0) }) != true else {
      throw .usage("--env \(name.shellQuoted): a variable's name does not begin with a digit")
    }
    guard HelperAnswer.isVisible(name) else {
      throw .usage("--env \(name.shellQuoted): a variable's name has no blanks and no control characters in it")
    }
    guard !name.hasPrefix("LD_"), !Self.refused.contains(name) else {
      throw .usage("--env does not set \(name.shellQuoted), which decides what programs run; choose another variable")
    }
    guard text.includes(Self.tokenWord) || text.includes(Self.expiryWord) else {
      // The text is not repeated: where the token stands in it already, it is a secret.
      throw .usage("--env \(name.shellQuoted)=… has neither \(Self.tokenWord) nor \(Self.expiryWord) in it")
    }
  }

  /// Whether a shell takes the name for a variable's (POSIX.1-2017, XBD 3.235); a program can be given any other.
  var isForShells: Bool {
    let isLetter = { (byte: UInt8) in (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F }
    guard let first = name.utf8.first, isLetter(first) else { return false }
    return name.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
  }

  /// The templates of a command line; the standard one where it has none.
  ///
  /// - Throws: as ``init(_:)``.
  static func all(_ arguments: Arguments) throws(CommandFailure) -> [EnvironmentTemplate] {
    var templates: [EnvironmentTemplate] = []
    for word in arguments.all(option.name) {
      let template = try EnvironmentTemplate(word)
      // Of two for one variable the last counts, as in a shell.
      templates.removeAll { $0.name == template.name }
      templates.append(template)
    }
    return templates.isEmpty ? [try EnvironmentTemplate(standardName)] : templates
  }

  /// The variable as execve(2) takes it.
  ///
  /// - Parameters:
  ///   - token: the token.
  ///   - expiresAt: when it expires; nil: not known.
  /// - Returns: `NAME=value` and a NUL, which the caller wipes; nil for a token with a NUL in it, and for a text that
  ///   names an expiry that is not known.
  func variable(_ token: Span<UInt8>, expiresAt: Timestamp?) -> [UInt8]? {
    var bytes: [UInt8] = []
    // Room for a token in every place: the buffer never moves, so that no copy stays behind.
    let places = text.utf8.count / Self.tokenWord.utf8.count + 1
    bytes.reserveCapacity(name.utf8.count + text.utf8.count + places * (token.count + 32) + 2)
    bytes.append(contentsOf: name.utf8)
    bytes.append(UInt8(ascii: "="))
    var rest = Substring(text).utf8[...]
    while let first = rest.first {
      if rest.starts(with: Self.tokenWord.utf8) {
        bytes.append(copying: token)
        rest = rest.dropFirst(Self.tokenWord.utf8.count)
      } else if rest.starts(with: Self.expiryWord.utf8) {
        guard let expiresAt else { return Self.wiped(&bytes) }
        bytes.append(contentsOf: expiresAt.description.utf8)
        rest = rest.dropFirst(Self.expiryWord.utf8.count)
      } else {
        bytes.append(first)
        rest = rest.dropFirst()
      }
    }
    guard !bytes.contains(0) else { return Self.wiped(&bytes) }
    bytes.append(0)
    return bytes
  }

  private static func wiped(_ bytes: inout [UInt8]) -> [UInt8]? {
    wipe(&bytes)
    return nil
  }
}
