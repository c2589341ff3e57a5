/// One mistake in a configuration, and its place.
package struct ConfigurationMistake: Sendable, Equatable {
  /// The mistaken part of a setting.
  package enum Subject: Sendable {
    /// The key: the message names it.
    case key
    /// The value: the path tells whose it is.
    case value
  }

  /// The position in the file.
  package let position: SourcePosition
  /// The setting, as in `profiles.work.methods[1]`; empty for the whole file.
  package let path: String
  /// The mistaken part of the setting.
  package let subject: Subject
  /// One clause without a full stop; it quotes the file, never a secret or the environment.
  package let message: String
  /// The correction, as a clause such as `did you mean "profiles"?`; nil where nothing is near.
  package let suggestion: String?

  /// Place, setting, message and suggestion, as compilers write them behind the name of the file.
  package var line: String {
    let setting = subject == .key || path.isEmpty ? "" : "\(path): "
    let end = suggestion.map { "; \($0)" } ?? ""
    return "\(position.line):\(position.column): \(setting)\(message)\(end)"
  }
}
