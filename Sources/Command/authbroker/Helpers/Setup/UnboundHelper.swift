import JSON
import LinuxSystem
import StateDirectory

/// A setting of a tool that runs its helper with `--profile` for every server.
///
/// The helper is then not asked which server it is: one that a page, a lock file or a redirect has named gets the token
/// as well.
struct UnboundHelper: Equatable, Sendable {
  /// The name of the setting.
  let setting: String
  /// The file, or the environment, that has it.
  let place: String

  /// The warning about it in the setup of a tool.
  func message(_ tool: String) -> Message {
    Message(
      "\(setting) in \(PlainText.line(place.utf8)) runs the helper with --profile, which gives that profile's token to every "
        + "server that \(tool) asks it about; take --profile out there",
      next: NextCommand("name the servers with", "target", "add", "URL"))
  }
}

/// The search in the syntax of each tool: blanks, quotes, brackets and commas separate words in all of them.
extension UnboundHelper {
  /// The words of a text.
  static func words(of text: some Collection<UInt8>) -> [[UInt8]] {
    Array(text).split { $0 <= 0x20 || separators.contains($0) }.map(Array.init)
  }

  /// Whether a text has a word of this program's name, and `--profile` among the words behind it.
  static func isIn(_ text: some Collection<UInt8>) -> Bool {
    words(of: text).drop { $0.firstOccurrence(of: "authbroker".utf8) == nil }.contains(where: isOption)
  }

  private static let separators = Array("\"'[](){},;".utf8)

  private static func isOption(_ word: [UInt8]) -> Bool {
    word == Array("--profile".utf8) || word.starts(with: "--profile=".utf8)
      || word.starts(with: "-p".utf8) && !word.starts(with: "--".utf8)
  }

  /// The text of a tool's file without lines that are comments; nil where it cannot be read.
  private static func text(of path: String) -> [UInt8]? {
    guard let bytes = try? ToolFile(path: path).read() else { return nil }
    let lines = bytes.split(separator: UInt8(ascii: "\n")).filter { line in
      line.first { $0 > 0x20 } != UInt8(ascii: "#")
    }
    return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
  }

  /// The part of a text from behind a word to a byte.
  private static func part(of text: [UInt8], behind word: String, to end: Unicode.Scalar) -> [UInt8] {
    guard let found = text.firstOccurrence(of: word.utf8) else { return [] }
    return Array(text[found.upperBound...].prefix { $0 != UInt8(ascii: end) })
  }
}

extension UnboundHelper {
  /// git's helpers for every server, or for every one that a pattern matches (gitcredentials(7)).
  static func ofGit(_ setup: SetupContext) -> [UnboundHelper] {
    guard (try? GitHelperStep.expectReadableFiles(setup)) != nil,
      let git = SearchPath.program(GitHelperStep.git, setup.environment),
      let done = try? ToolRun(
        git, ["config", "--show-origin", "--null", "--get-regexp", "^credential\\.(.*\\*.*\\.)?helper$"],
        environment: setup.environment)
    else { return [] }
    var found: [UnboundHelper] = []
    // `file:/home/ada/.gitconfig`, and then the key, the end of a line and the value.
    let fields = done.output.split(separator: 0, omittingEmptySubsequences: false)
    for (origin, entry) in zip(fields, fields.dropFirst()) where origin.starts(with: "file:".utf8) {
      guard let end = entry.firstIndex(of: UInt8(ascii: "\n")), isIn(entry[end...]) else { continue }
      found.append(
        UnboundHelper(
          setting: String(decoding: entry[..<end], as: UTF8.self),
          place: String(decoding: origin.dropFirst("file:".utf8.count), as: UTF8.self)))
    }
    return found
  }

  /// cargo's providers for every registry, by themselves or by an alias.
  static func ofCargo(_ file: String) -> [UnboundHelper] {
    let setting = "global-credential-providers"
    guard let text = text(of: file) else { return [] }
    let list = part(of: text, behind: setting, to: "]")
    let isChosen = isIn(list) || words(of: list).contains { isIn(alias($0, in: text)) }
    return isChosen ? [UnboundHelper(setting: setting, place: file)] : []
  }

  /// The value of an entry of `credential-alias`; empty where there is none.
  private static func alias(_ name: [UInt8], in text: [UInt8]) -> [UInt8] {
    let table = part(of: text, behind: "[credential-alias]", to: "\0")
    var rest = table[...]
    while let begin = rest.firstIndex(where: { $0 > 0x20 && $0 != UInt8(ascii: "\"") }) {
      let line = rest[begin...].prefix { $0 != UInt8(ascii: "\n") }
      guard line.starts(with: name), let equals = line.firstIndex(of: UInt8(ascii: "=")) else {
        rest = rest[line.endIndex...]
        continue
      }
      let value = rest[(equals + 1)...].drop { $0 <= 0x20 }
      let isList = value.first == UInt8(ascii: "[")
      return Array(value.prefix { $0 != UInt8(ascii: isList ? "]" : "\n") })
    }
    return []
  }

  /// Terraform's helper, which it has one of.
  static func ofTerraform(_ file: String) -> [UnboundHelper] {
    let setting = "credentials_helper"
    guard let text = text(of: file), isIn(part(of: text, behind: setting, to: "}")) else { return [] }
    return [UnboundHelper(setting: setting, place: file)]
  }

  /// The commands of `GOAUTH`, from the environment or the file that `go env -w` writes.
  static func ofGo(_ setup: SetupContext) -> [UnboundHelper] {
    let setting = "GOAUTH"
    if let value = setup.environment[setting] {
      return isInCommand(of: Array(value.utf8)) ? [UnboundHelper(setting: setting, place: "the environment")] : []
    }
    let file = setup.environment["GOENV"] ?? setup.file("XDG_CONFIG_HOME", orElse: ".config") + "/go/env"
    guard PathName.isAbsolute(file), let text = text(of: file),
      isInCommand(of: part(of: text, behind: "GOAUTH=", to: "\n"))
    else { return [] }
    return [UnboundHelper(setting: setting, place: file)]
  }

  private static func isInCommand(of list: [UInt8]) -> Bool {
    list.split(separator: UInt8(ascii: ";")).contains { isIn($0) }
  }

  /// Users of a kubeconfig: which cluster they are used with, a context says, and not the user.
  static func ofKubectl(_ setup: SetupContext) -> [UnboundHelper] {
    let paths = setup.environment["KUBECONFIG"].map { $0.split(separator: ":").map(String.init) }
    return (paths ?? [setup.home + "/.kube/config"]).filter(PathName.isAbsolute).compactMap { path in
      guard let text = text(of: path) else { return nil }
      var rest = words(of: text)[...]
      while let begin = rest.firstIndex(of: Array("args:".utf8)) {
        let words = rest[(begin + 1)...].prefix { $0.last != UInt8(ascii: ":") }
        if ["helper", "kubectl"].allSatisfy({ words.contains(Array($0.utf8)) }), words.contains(where: isOption) {
          return UnboundHelper(setting: "args", place: path)
        }
        rest = rest[words.endIndex...]
      }
      return nil
    }
  }
}
