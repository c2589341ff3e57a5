import BrokerProtocol

/// The correction of an unknown key.
struct KeyCorrection {
  /// The key of the same section that was meant; nil where none is near.
  let name: String?
  /// The advice; nil where no key is near and the keys are too many to be listed.
  let suggestion: String?

  /// More keys than a line has room for, unless they are short.
  private static let listLimit = 12
  /// The characters of a list of short keys.
  private static let listWidth = 120
  /// The deepest sections that are searched: deeper ones repeat their keys, such as those of each endpoint.
  private static let depthLimit = 3

  /// Searches for a key in its section first, then in others, and then for one with a similar spelling.
  init(
    _ key: String, known: [String], aliases: [String: String], section: String, _ context: ConfigurationContext
  ) {
    let alias = aliases[key].flatMap { known.contains($0) ? $0 : nil }
    if let same = Spelling.same(as: key, among: known) ?? alias {
      (name, suggestion) = (same, Self.question(same))
      return
    }
    let places = context.sections(with: key).filter { $0.section.split(separator: ".").count <= Self.depthLimit }
    if !places.isEmpty {
      (name, suggestion) = (nil, Self.moved(places, from: section))
    } else if let nearest = Spelling.nearest(to: key, among: known) {
      (name, suggestion) = (nearest, Self.question(nearest))
    } else {
      name = nil
      suggestion = Self.choices(among: known, resembling: key)
    }
  }

  private static func question(_ name: String) -> String { "did you mean \"\(name)\"?" }

  /// The known keys; of many, only those that share a word with the key beside the first; nil where there is none.
  private static func choices(among known: [String], resembling key: String) -> String? {
    let list = known.joined(separator: ", ")
    guard known.count > listLimit, list.count > listWidth else { return "known keys: \(list)" }
    let words = words(of: key).dropFirst()
    let similar = known.filter { other in Self.words(of: other).dropFirst().contains { words.contains($0) } }
    guard similar.count != 1 else { return question(similar[0]) }
    return (1...listLimit).contains(similar.count) ? "similar keys: \(similar.joined(separator: ", "))" : nil
  }

  /// The words of a key, as `max`, `requests`, `in` and `flight` of `maxRequestsInFlight`.
  private static func words(of key: String) -> [String] {
    var words: [String] = [""]
    for character in key {
      if character.isUppercase { words.append("") }
      words[words.count - 1] += character.lowercased()
    }
    return words
  }

  /// Describes the sections that know a key.
  private static func moved(_ places: [KnownKeys.Place], from section: String) -> String {
    let providers = places.filter { $0.section == section }.compactMap(\.provider)
    if !providers.isEmpty {
      return "it is for the provider\(providers.count == 1 ? "" : "s") \(providers.joined(separator: ", "))"
    }
    let sections = places.map(\.section)
    guard !sections.contains("") else { return "it belongs at the top, beside profiles" }
    var different: [String] = []
    for section in sections where !different.contains(section) { different.append(section) }
    return "it belongs in \(different.prefix(2).joined(separator: " or "))"
  }
}
