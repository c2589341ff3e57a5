import JSONRPC

/// Where a secret is that the configuration needs but never holds.
package enum SecretReference: Sendable, Equatable {
  /// A file with nothing but the secret, by its absolute path.
  case file(String)
  /// A variable of the environment that the broker was started with.
  case environment(String)
  /// A program (its name, or its absolute path) and its arguments; what it prints is the secret.
  case command([String])

  /// Reads `{file: "…"}`, `{env: "…"}` or `{command: ["…"]}`; nil where the key is absent.
  ///
  /// - Throws: ``ConfigurationError`` for anything else: above all for the secret itself.
  static func read(
    _ key: String, in section: inout ConfigurationSection
  ) throws(ConfigurationError) -> SecretReference? {
    guard let node = section.value(key) else { return nil }
    let forms = #"{file: "…"}, {env: "…"} or {command: ["…"]}"#
    guard node.kind == .object else {
      throw section.failure(key, "is never written in a configuration; say where it is: \(forms)")
    }
    var reference = try ConfigurationSection(node, path: section.name(of: key), context: section.context)
    let file = try reference.text("file")
    let variable = try reference.text("env")
    let command = try reference.texts("command")
    try reference.refuseUnknownKeys()
    switch (file, variable, command) {
    case (let path?, nil, nil):
      guard AbsolutePath.isFile(path) else { throw reference.failure("file", AbsolutePath.expectation) }
      return .file(path)
    case (nil, let name?, nil):
      guard isVariable(name) else { throw reference.failure("env", "must be the name of an environment variable") }
      return .environment(name)
    case (nil, nil, let command?):
      guard isCommand(command) else {
        throw reference.failure("command", "must begin with a program: its name, or its absolute path")
      }
      return .command(command)
    default: throw section.failure(key, "must be one of \(forms)")
    }
  }

  private static func isVariable(_ name: String) -> Bool {
    guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
    return name.utf8.allSatisfy { byte in
      byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
    }
  }

  private static func isCommand(_ command: [String]) -> Bool {
    guard let program = command.first, !program.isEmpty else { return false }
    return (program.hasPrefix("/") || !program.contains("/")) && !command.contains { $0.utf8.contains(0) }
  }
}

/// The rule for paths of files.
enum AbsolutePath {
  /// What a wrong one is told.
  static let expectation = #"must be the absolute path of a file, such as "${HOME}/keys/ca.pem""#

  /// Whether a text is one.
  static func isFile(_ path: String) -> Bool {
    path.hasPrefix("/") && !path.hasSuffix("/") && !path.utf8.contains(0)
  }
}
