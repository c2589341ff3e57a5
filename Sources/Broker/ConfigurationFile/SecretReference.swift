import JSON

/// A reference to a secret, which the configuration needs but never holds.
package enum SecretReference: Sendable, Equatable {
  /// A file by its absolute path; its first line is the secret.
  case file(String)
  /// A variable of the environment that the broker was started with.
  case environment(String)
  /// A program (its name, or its absolute path) and its arguments; the first line that it prints is the secret.
  case command([String])
  /// An assertion that says who the client is (RFC 7521, section 4.2): the first line of a file that all may read, or of
  /// what a program prints.
  indirect case assertion(SecretReference)
  /// A key: all of what is there.
  indirect case key(SecretReference)

  /// The three ways to say where a secret is.
  package static let forms = #"{file: "/PATH"}, {env: "NAME"} or {command: ["PROGRAM"]}"#

  /// Reads `{file: "…"}`, `{env: "…"}` or `{command: ["…"]}`; nil where the key is absent or faulty.
  ///
  /// A secret that stands there itself is a mistake, and is not quoted.
  package static func read(_ key: String, in section: inout ConfigurationSection) -> SecretReference? {
    guard let node = section.value(key) else { return nil }
    guard node.kind == .object else {
      section.report(key, "a secret must not stand in the configuration", "write where it is: \(forms)")
      return nil
    }
    var reference = section.section(key)
    let file = reference.filePath("file")
    let variable = Self.variable(&reference)
    let command = reference.program("command")
    let count = ["file", "env", "command"].count { reference.has($0) }
    reference.finish(aliases: ["path": "file", "environment": "env", "variable": "env"])
    guard count == 1 else {
      if count > 1 || reference.namedMembers().isEmpty { section.report(key, "must be one of \(Self.forms)") }
      return nil
    }
    return file.map { .file($0) } ?? variable.map { .environment($0) } ?? command.map { .command($0) }
  }

  private static func variable(_ section: inout ConfigurationSection) -> String? {
    guard let name = section.string("env", takesAny: false) else { return nil }
    let isName =
      name.utf8.first.map { !(0x30...0x39).contains($0) } == true
      && name.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
      }
    if !isName { section.report("env", "must be the name of an environment variable") }
    return isName ? name : nil
  }
}
