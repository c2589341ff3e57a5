import CLinux

/// Variables of an environment: this process's own, looked up one by one, or given ones.
///
/// A program that needs a few of its own makes no copy of all. Its own are not to be changed meanwhile; a library, whose
/// program may change them, takes a copy.
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
    // The initializer of a dictionary that chooses between two values does not compile as Embedded Swift.
    var given: [String: String] = [:]
    for (name, value) in variables where given[name] == nil { given[name] = value }
    self.given = given
  }

  /// The same without one variable.
  package func without(_ name: String) -> EnvironmentVariables {
    var variables = all
    variables[name] = nil
    return EnvironmentVariables(variables)
  }

  /// All of them, for another program.
  package var all: [String: String] { given ?? Environment.current }

  /// The value of a variable; nil where it is not set.
  ///
  /// Of two with one name the first counts, as in getenv(3).
  package subscript(name: String) -> String? {
    if let given { return given[name] }
    var name = name
    // The bytes of the name are lent for the length of the call, where getenv(3) would want a copy that ends with a NUL; the
    // value ends with one, and is copied at once. The caller changes none of the process's own variables meanwhile.
    return name.withUTF8 { bytes in
      // As above.
      guard let value = unsafe clinux_environment_value(bytes.baseAddress, bytes.count) else { return nil }
      // As above.
      return unsafe String(cString: value)
    }
  }
}
