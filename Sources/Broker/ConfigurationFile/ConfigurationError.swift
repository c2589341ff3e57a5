/// The mistakes for which a configuration is refused.
package struct ConfigurationError: Error, Sendable, Equatable {
  /// The file, as its user named it.
  package let file: String
  /// The mistakes in the order of their places; at least one, at most ``listLimit``.
  package let mistakes: [ConfigurationMistake]
  /// How many more there are.
  package let omittedCount: Int

  /// The most mistakes that are listed: users correct the first ones before they read on.
  package static let listLimit = 100

  /// A refusal for one mistake behind which nothing was read.
  init(file: String, _ mistake: ConfigurationMistake) {
    self.init(file: file, mistakes: [mistake], omittedCount: 0)
  }

  /// A refusal for all mistakes that were found; `mistakes` has at least one.
  init(file: String, mistakes: [ConfigurationMistake], omittedCount: Int) {
    self.file = file
    self.mistakes = mistakes.sorted { $0.position < $1.position }
    self.omittedCount = omittedCount
  }

  /// Each mistake on a line of its own, as compilers write them: editors can jump to the places.
  package var lines: [String] { mistakes.map { "\(file):\($0.line)" } }
}

extension ConfigurationError: CustomStringConvertible {
  /// The first mistake, and how many more there are.
  package var description: String {
    let more = mistakes.count - 1 + omittedCount
    let first = lines.first ?? file
    return more == 0 ? first : "\(first) (and \(more) more mistake\(more == 1 ? "" : "s"))"
  }
}
