import JSON

/// A reference to a secret, which the configuration needs but never holds.
package struct SecretReference: Sendable, Hashable {
  /// The place where a secret is.
  package enum Place: Sendable, Hashable {
    /// A file by its absolute path.
    case file(String)
    /// A variable of the environment that the broker was started with.
    case environment(String)
    /// A program (its name, or its absolute path) and its arguments, which prints it.
    case command([String])

    /// Whether a program prints it.
    package var isProgram: Bool { if case .command = self { true } else { false } }
  }

  /// The part of what is there that is the secret.
  package enum Part: Sendable, Hashable {
    /// The first line: a password.
    case line
    /// The first line, of a file that all may read: an assertion (RFC 7521, section 4.2).
    case assertion
    /// All of it: a key.
    case whole
  }

  /// The key of the configuration that names it, such as `clientSecret`.
  package let key: String
  /// The place.
  package let place: Place
  /// The part of what is there.
  package let part: Part

  /// A reference.
  package init(_ key: String, _ place: Place, _ part: Part = .line) {
    (self.key, self.place, self.part) = (key, place, part)
  }

  /// The key and the place, as the beginning of a sentence: `clientSecret in the file /run/secret`.
  package var name: String {
    switch place {
    case .file(let path): "\(key) in the file \(path)"
    case .environment(let name): "\(key) in the variable \(name)"
    case .command(let command): "\(key) of the command \(command.first ?? "")"
    }
  }

  /// The three ways to say where a secret is.
  package static let forms = #"{file: "/PATH"}, {env: "NAME"} or {command: ["PROGRAM"]}"#

  /// Reads `{file: "…"}`, `{env: "…"}` or `{command: ["…"]}`; nil where the key is absent or faulty.
  ///
  /// A secret that stands there itself is a mistake, and is not quoted.
  package static func read(
    _ key: String, in section: inout ConfigurationSection, _ part: Part = .line
  ) -> SecretReference? {
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
    let place: Place? =
      file.map { .file($0) } ?? variable.map { .environment($0) } ?? command.map { .command($0) }
    return place.map { SecretReference(key, $0, part) }
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
