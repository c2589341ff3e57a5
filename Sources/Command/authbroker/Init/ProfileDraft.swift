import BrokerProtocol
import JSON
import SecretMemory

/// A profile that is being set up.
struct ProfileDraft {
  /// The value of a key.
  enum Value {
    /// A string.
    case text(String)
    /// Any other value, as JSON.
    case json(String)
    /// The file of a secret.
    case file(String)
    case environment(String)
    case command([String])
    /// A secret that was typed, and goes into a file beside the configuration.
    case typed(Secret)
  }

  /// The type of its provider.
  let provider: OfferedProvider
  /// The name.
  var name = ProfileName.default
  /// The keys and their values, in the order of the file.
  private(set) var values: [(key: String, value: Value)] = []

  /// A profile that has its provider only.
  init(_ provider: OfferedProvider) { self.provider = provider }

  /// The value of a key, or nil to leave the key out.
  subscript(key: String) -> Value? {
    get { values.first { $0.key == key }?.value }
    set {
      let index = values.firstIndex { $0.key == key }
      switch (index, newValue) {
      case (let index?, let value?): values[index].value = value
      case (let index?, nil): values.remove(at: index)
      case (nil, let value?): values.append((key, value))
      case (nil, nil): break
      }
    }
  }

  /// Asks for scopes that the provider announces, where it is known by its issuer alone and none are named: without them
  /// nothing tells who the user is, and sessions end with their first token.
  mutating func ask(for scopes: [String]) {
    guard provider.type == ProfileQuestions.oidc, self["scopes"] == nil, !scopes.isEmpty else { return }
    self["scopes"] = .json("[" + (["openid"] + scopes).map(JSONWriter.quoted).joined(separator: ", ") + "]")
  }

  /// The secret that was typed; nil where there is none.
  var typedSecret: Secret? {
    values.lazy.compactMap { if case .typed(let secret) = $0.value { secret } else { nil } }.first
  }

  /// The profile as the configuration has it, each line indented, with a comma behind it.
  ///
  /// - Parameters:
  ///   - secretFile: where a secret that was typed is, or is going to be.
  ///   - indent: what every line begins with.
  /// - Returns: lines of JSON5.
  func text(secretFile: String, indent: String) -> String {
    var lines = [
      "\(indent)\(Self.key(name.description)): {", "\(indent)  provider: \(JSONWriter.quoted(provider.type)),",
    ]
    let order = provider.questions.map { $0.key }
    let asked = order.compactMap { key in values.first { $0.key == key } }
    for (key, value) in asked + values.filter({ !order.contains($0.key) }) {
      lines.append("\(indent)  \(Self.key(key)): \(Self.text(value, secretFile)),")
    }
    return lines.joined(separator: "\n") + "\n\(indent)},\n"
  }

  /// The string that a key has; nil for any other value.
  func string(_ key: String) -> String? { if case .text(let text)? = self[key] { text } else { nil } }

  private static func text(_ value: Value, _ secretFile: String) -> String {
    switch value {
    case .text(let text): JSONWriter.quoted(text)
    case .json(let text): text
    case .file(let path): "{ file: \(JSONWriter.quoted(path)) }"
    case .environment(let name): "{ env: \(JSONWriter.quoted(name)) }"
    case .command(let words): "{ command: [\(words.map(JSONWriter.quoted).joined(separator: ", "))] }"
    case .typed: "{ file: \(JSONWriter.quoted(secretFile)) }"
    }
  }

  /// A key as JSON5 has it: in quotes where it is no plain word.
  private static func key(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy { $0 == 0x5F || (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) }
    return isPlain && name.utf8.first.map { !(0x30...0x39).contains($0) } == true ? name : JSONWriter.quoted(name)
  }
}
