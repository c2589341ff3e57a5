/// Why a configuration cannot be used, and where in its file.
package struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file, as its user named it.
  package let file: String
  /// The line, from 1.
  package let line: Int
  /// The character in its line, from 1.
  package let column: Int
  /// The setting, as in `local.otp.length`; empty for the whole.
  package let key: String
  /// One clause that names the setting and says what is wrong; never a value, which may come from the environment.
  package let message: String
  /// The keys that can stand in the section, where one that cannot was found.
  package let knownKeys: [String]

  /// A failure at one place.
  init(file: String, position: SourcePosition, key: String, message: String, knownKeys: [String] = []) {
    self.file = file
    line = position.line
    column = position.column
    self.key = key
    self.message = message
    self.knownKeys = knownKeys
  }

  /// One line as compilers write it, so that editors can jump to the place.
  package var description: String { "\(file):\(line): \(message)" }
}
