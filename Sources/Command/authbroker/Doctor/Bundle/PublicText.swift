import BrokerProtocol
import LinuxSystem
import TextCoding

/// Sentences of this program without what is their reader's own: what remains is listed here, and everything else is
/// left out.
struct PublicText {
  /// Stands in the place of what is left out.
  static let removed = "(removed)"
  /// The longest word: that of a limit, such as `maxSubscriptionsPerConnection`.
  private static let longestWord = 32

  /// Names that are left out although they look like words: of the user, of accounts.
  private var names: Set<String> = []
  /// Names that are shown: of profiles and of providers' servers.
  private var known: Set<String> = []

  /// Leaves out the names of this process's user.
  init(_ environment: EnvironmentVariables) {
    for variable in ["USER", "LOGNAME", "HOME", "SUDO_USER", "HOSTNAME"] {
      let value = environment[variable] ?? ""
      hide(value.split(separator: "/").last.map(String.init))
    }
  }

  /// Leaves out a name, whole and in its words.
  mutating func hide(_ name: String?) {
    guard let name else { return }
    for part in name.lowercased().split(whereSeparator: { !$0.isLetter && !$0.isNumber }) where part.count > 1 {
      names.insert(String(part))
    }
  }

  /// Shows a name.
  mutating func show(_ name: String) { known.insert(name) }

  /// Whether a name is one that is shown.
  func isName(_ name: String) -> Bool { known.contains(name) }

  /// Whether a value is a plain word, a number, or a name that is shown.
  func isWord(_ value: String) -> Bool { !value.isEmpty && isShown(value) }

  /// The host of an address, with its port where it names one; nil for what is no address.
  static func host(_ address: String) -> String? {
    AddressParts(address)?.server.map { server in server.host + (server.port.map { ":\($0)" } ?? "") }
  }

  /// The server of an address, without user, path and query; nil for what is no address.
  static func server(_ address: String) -> String? {
    guard let scheme = AddressParts(address)?.scheme, let host = host(address) else { return nil }
    return "\(scheme)://\(host)"
  }

  /// A sentence whose words are shown where they are plain words, numbers, or names that are to be shown.
  ///
  /// What stands in quotes is someone else's.
  func sentence(_ text: String) -> String {
    var words: [String] = []
    var quote: Character?
    for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
      let (front, core, back) = Self.parts(word)
      let isQuoted = quote != nil || core.first.map(Self.quotes.contains) ?? false
      if isQuoted {
        let mark = quote ?? core.first
        let isEnd = core.last == mark && (quote != nil || core.count > 1)
        quote = isEnd ? nil : mark
      }
      let shown = isQuoted || !isShown(String(core)) ? Self.removed : String(core)
      if isQuoted, words.last == Self.removed { words.removeLast() }
      words.append(isQuoted ? Self.removed : front + shown + back)
    }
    return words.joined(separator: " ")
  }

  private static let quotes: Set<Character> = ["\"", "'", "`"]

  /// A word without the marks of its sentence.
  private static func parts(_ word: Substring) -> (front: String, core: Substring, back: String) {
    let marks: Set<Character> = ["(", ")", ",", ";", ":", ".", "?"]
    let front = word.prefix { marks.contains($0) }
    var (core, back) = (word.dropFirst(front.count), "")
    while let last = core.last, marks.contains(last) { back = String(core.removeLast()) + back }
    return (String(front), core, back)
  }

  private func isShown(_ core: String) -> Bool {
    if core.isEmpty || known.contains(core) { return true }
    if core.allSatisfy({ $0.isASCII && ($0.isNumber || ".:-+%/".contains($0)) }) {
      // A longer run of digits may be a code, or a number to call.
      return core.split(whereSeparator: { !$0.isNumber }).allSatisfy { $0.count <= 5 } && !core.hasPrefix("/")
    }
    let parts = core.split(separator: "-", omittingEmptySubsequences: false)
    return parts.allSatisfy { part in
      let letters = part.filter { $0 != "'" }
      return letters.count <= Self.longestWord && letters.allSatisfy { $0.isASCII && $0.isLetter }
        && !names.contains(letters.lowercased())
    }
  }
}
