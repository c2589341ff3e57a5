import BrokerProtocol
import JSON

/// Readers of settings. A faulty value is noted and read as its default.
extension ConfigurationSection {
  /// A whole number.
  package mutating func read(_ setting: WholeNumberSetting) -> Int {
    guard let node = value(setting.key) else { return setting.standard }
    if let number = (try? node.integer()).flatMap(Int.init(exactly:)), setting.range.contains(number) { return number }
    let (low, high) = (setting.range.lowerBound, setting.range.upperBound)
    report(
      setting.key, "must be a whole number from \(low) to \(high), not \(node.valueInWords)",
      NumberCorrection(node).suggestion(from: low, to: high, fractions: false))
    return setting.standard
  }

  /// A duration.
  package mutating func read(_ setting: DurationSetting) -> Duration {
    guard let node = value(setting.key) else { return .seconds(setting.standard) }
    let (low, high) = (setting.range.lowerBound, setting.range.upperBound)
    if let seconds = try? node.number(), seconds >= Double(low), seconds <= Double(high) {
      return .milliseconds(Int64((seconds * 1000).rounded()))
    }
    report(
      setting.key, "must be a number of seconds from \(low) to \(high), not \(node.valueInWords)",
      NumberCorrection(node).suggestion(from: low, to: high, fractions: true))
    return .seconds(setting.standard)
  }

  /// A switch.
  package mutating func flag(_ key: String, standard: Bool) -> Bool {
    guard let node = value(key) else { return standard }
    if let flag = try? node.bool() { return flag }
    let word = (try? node.string())?.lowercased() ?? ""
    let meant: Bool? =
      ["true", "yes", "on"].contains(word) ? true : ["false", "no", "off"].contains(word) ? false : nil
    report(key, "must be true or false, not \(node.valueInWords)", meant.map { "write \($0)" })
    return standard
  }

  /// A string, its environment variables put in; nil where it is absent or faulty.
  ///
  /// Where any string is accepted (`takesAny`), a number is to be put in quotes.
  package mutating func string(_ key: String, takesAny: Bool = true) -> String? {
    note(key)
    return expandedString(key, takesAny: takesAny)
  }

  /// The same under a name that the user chose.
  package func expandedString(_ key: String, takesAny: Bool = true) -> String? {
    guard let node = node(at: key) else { return nil }
    if let text = try? node.string() { return context.expanded(text, at: node, path(of: key)) }
    report(key, "must be a string, not \(node.kindInWords)", takesAny ? node.quotedSuggestion : nil)
    return nil
  }

  /// An identifier of visible ASCII, at most 256 bytes; nil where it is absent or faulty.
  package mutating func word(_ key: String) -> String? {
    guard let text = string(key) else { return nil }
    if (1...256).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) { return text }
    report(key, "must have 1 to 256 visible ASCII characters, without blanks")
    return nil
  }

  /// A list of strings, their environment variables put in; nil where it is absent or faulty.
  ///
  /// Where the names of `placeholders` are filled in later, they stay as they are, and there are no variables.
  package mutating func strings(_ key: String, keeping placeholders: Set<String> = []) -> [String]? {
    guard let node = value(key) else { return nil }
    guard let elements = try? node.elements() else {
      report(key, "must be a list of strings, not \(node.kindInWords)", node.listSuggestion)
      return nil
    }
    var strings: [String] = []
    for (index, element) in elements.enumerated() {
      let path = "\(path(of: key))[\(index)]"
      if let text = try? element.string() {
        if let text = context.expanded(text, at: element, path, keeping: placeholders) { strings.append(text) }
      } else {
        context.report(at: element, path, "must be a string, not \(element.kindInWords)", element.quotedSuggestion)
      }
    }
    return strings.count == elements.count ? strings : nil
  }

  /// One of a few words.
  package mutating func read<Value>(_ setting: ChoiceSetting<Value>) -> Value {
    guard let node = value(setting.key) else { return setting.standard }
    guard let text = try? node.string() else {
      report(setting.key, "must be \(setting.expected), not \(node.kindInWords)")
      return setting.standard
    }
    guard let word = context.expanded(text, at: node, path(of: setting.key)) else { return setting.standard }
    if let value = Value(rawValue: word) { return value }
    let nearest = Spelling.nearest(to: text, among: Value.allCases.map(\.rawValue))
    let given = quoted(setting.key)
    report(
      setting.key, "must be \(setting.expected), not\(given.isEmpty ? " this string" : given)",
      nearest.map { "did you mean \"\($0)\"?" })
    return setting.standard
  }

  /// Notes what is wrong with one element of a list.
  package func report(_ key: String, element index: Int, _ message: String, _ suggestion: String? = nil) {
    guard let element = element(index, of: key) else { return report(key, message, suggestion) }
    context.report(at: element, "\(path(of: key))[\(index)]", message, suggestion)
  }

  private func element(_ index: Int, of key: String) -> JSONNode? {
    let elements = node(at: key).flatMap { try? $0.elements() } ?? []
    return elements.indices.contains(index) ? elements[index] : nil
  }

  /// A string as a mistake may quote it: as it stands in the file, at `key` or as an element of the list there.
  ///
  /// It has a blank in front; it is empty where the string is long, or is none.
  package func quoted(_ key: String, element index: Int? = nil) -> String {
    let value = index.map { element($0, of: key) } ?? node(at: key)
    guard let quote = value?.valueInWords, quote.hasPrefix("\"") else { return "" }
    return " \(quote)"
  }
}
