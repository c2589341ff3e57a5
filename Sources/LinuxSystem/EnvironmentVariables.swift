import CLinux

/// Variables of an environment: this process's own, looked up one by one, or given ones.
///
/// A program that needs a few of its own makes no copy of all. Its own are not to be changed meanwhile; a library in another
/// program, where somebody may, takes a copy.
package struct EnvironmentVariables: Sendable, ExpressibleByDictionaryLiteral {
  /// Nil where the process's own are meant.
  private let given: [String: String]?

  /// This process's own, each as it is when it is asked for.
  package static let current = EnvironmentVariables(given: nil)

  private init(given: [String: String]?) { self.given = given }

  /// The variables of a dictionary.
  package init(_ variables: [String: String]) { given = variables }

  /// The variables of a literal; of two with one name the first counts.
  package init(dictionaryLiteral variables: (String, String)...) {
    var given: [String: String] = [:]
    for (name, value) in variables where given[name] == nil { given[name] = value }
    self.given = given
  }

  /// All of them, for another program.
  package var all: [String: String] { given ?? Environment.current }

  /// The value of a variable; nil where it is not set.
  ///
  /// Of two with one name the first counts, as in getenv(3).
  package subscript(name: String) -> String? {
    if let given { return given[name] }
    var name = name
    // The bytes of the name are lent for the length of the call; the value ends with a NUL, and is copied at once. Whoever
    // asks for the process's own variables changes none of them meanwhile.
    return name.withUTF8 { bytes in
      // As above.
      guard let value = unsafe clinux_environment_value(bytes.baseAddress, bytes.count) else { return nil }
      // As above.
      return unsafe String(cString: value)
    }
  }
}
