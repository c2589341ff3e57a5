import JSON

/// A configuration file, from its bytes to its outermost section.
package enum ConfigurationDocument {
  /// The most bytes of a file: thousands of profiles fit, a wrong path to something huge does not.
  package static let byteLimit = 1 << 20

  /// The most levels of nesting: seven are in use.
  private static let nestingLimit = 16

  /// Reads the bytes of a file.
  ///
  /// - Parameters:
  ///   - bytes: what stands in the file.
  ///   - file: what errors call it.
  ///   - environment: what `${NAME}` is taken from.
  ///   - examine: says what is wrong with a file of trusted authorities that is named, if that is to be looked at.
  ///   - keys: every key of such a file; asked only where one is unknown.
  ///   - read: reads the outermost section, and notes its mistakes.
  /// - Returns: what `read` returns.
  /// - Throws: ``ConfigurationError`` with every mistake: nothing of the file is used then.
  package static func read<Value>(
    _ bytes: [UInt8], file: String, environment: [String: String],
    examine: @escaping (String) -> String? = { _ in nil },
    keys: @autoclosure @escaping () -> KnownKeys,
    _ read: (inout ConfigurationSection) -> Value
  ) throws(ConfigurationError) -> Value {
    let text = try converted(bytes, file: file)
    let context = ConfigurationContext(text, environment: environment, examine: examine, places: keys)
    let document: JSONDocument
    do throws(JSONError) {
      let limits = JSONLimits(depth: nestingLimit, byteCount: text.json.count)
      document = try JSONDocument(parsing: text.json, limits: limits)
    } catch { throw ConfigurationError(file: file, text.mistake(error)) }
    var root = ConfigurationSection(document.root, path: "", pattern: "", context: context)
    let value = read(&root)
    guard context.mistakes.isEmpty else {
      throw ConfigurationError(file: file, mistakes: context.mistakes, omittedCount: context.omittedCount)
    }
    return value
  }

  private static func converted(_ bytes: [UInt8], file: String) throws(ConfigurationError) -> JSON5Text {
    do throws(JSON5Error) {
      guard bytes.count <= byteLimit else { throw JSON5Error("the file has more than \(byteLimit) bytes", at: 0) }
      return try JSON5Text(converting: bytes)
    } catch {
      throw ConfigurationError(file: file, (ForeignFormat(bytes)?.error ?? error).mistake(in: bytes))
    }
  }
}
