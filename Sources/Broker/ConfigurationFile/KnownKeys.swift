/// The keys of a configuration by the sections that know them.
package struct KnownKeys: Sendable {
  /// A section that knows a key.
  struct Place: Sendable, Equatable {
    /// The section, as in `profiles.NAME.tls`; empty for the top.
    let section: String
    /// The type of provider whose key it is; nil for a key of every profile, or of no profile.
    var provider: String?
  }

  private var sections: [String: [String]] = [:]
  private var placesOfKeys: [String: [Place]] = [:]

  /// No keys.
  package init() {}

  /// The keys of a section, in the order in which it reads them.
  package subscript(section: String) -> [String] { sections[section] ?? [] }

  /// Whether any section knows a key.
  package func knows(_ key: String) -> Bool { placesOfKeys[key] != nil }

  /// The sections that know a key.
  func places(of key: String) -> [Place] { placesOfKeys[key] ?? [] }

  /// Adds a key of a section.
  mutating func add(_ key: String, in section: String, provider: String? = nil) {
    if sections[section]?.contains(key) != true { sections[section, default: []].append(key) }
    let place = Place(section: section, provider: provider)
    if placesOfKeys[key]?.contains(place) != true { placesOfKeys[key, default: []].append(place) }
  }

  /// Adds the keys of all sections of a profile, as a type of provider knows them.
  package mutating func add(_ keys: KnownKeys, of provider: String) {
    for (section, keys) in keys.sections.sorted(by: { $0.key < $1.key }) {
      for key in keys { add(key, in: section, provider: provider) }
    }
  }
}
