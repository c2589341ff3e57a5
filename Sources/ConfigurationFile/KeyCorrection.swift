import BrokerProtocol

/// What an unknown key was meant to be.
struct KeyCorrection {
  /// The key of the same section that was meant; nil where none is near.
  let name: String?
  /// What to do about the key; nil where nothing is near and the keys are too many to be listed.
  let suggestion: String?

  /// More keys than a line has room for.
  private static let listLimit = 12
  /// Deeper sections repeat their keys, such as those of each endpoint: none of them is the one that was meant.
  private static let depthLimit = 3

  /// Looks for a key in its section first, then in others, and then for one that is spelt much like it.
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
      suggestion = known.count > Self.listLimit ? nil : "known keys: \(known.joined(separator: ", "))"
    }
  }

  private static func question(_ name: String) -> String { "did you mean \"\(name)\"?" }

  /// Where a key belongs that other sections know.
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
