import JSON

/// A place in a configuration's text where an entry can be added to a section, so that every other byte stays as it is.
package struct ConfigurationPlace: Sendable, Equatable {
  /// The byte behind the brace that opens the section.
  package let offset: Int
  /// Whether that is the section itself; false for the outermost one, which has no such section yet.
  package let isInSection: Bool

  /// Finds it; nil where the text is no object, or its section is none.
  ///
  /// - Parameters:
  ///   - bytes: what stands in the file.
  ///   - section: the key of the section, such as `profiles`.
  package init?(in bytes: [UInt8], of section: String) {
    guard let text = try? JSON5Text(converting: bytes), let root = try? JSONDocument(parsing: text.json).root,
      root.kind == .object
    else { return nil }
    let present = root[section]
    guard present.map({ $0.kind == .object }) ?? true,
      let brace = text.sourceByte(ofJSONByte: (present ?? root).text.startIndex)
    else { return nil }
    offset = brace + 1
    isInSection = present != nil
  }

  /// The lines, from 1, on which the keys of a section's entries stand; empty where there is no such section.
  package static func lines(of section: String, in bytes: [UInt8]) -> [String: Int] {
    guard let text = try? JSON5Text(converting: bytes), let root = try? JSONDocument(parsing: text.json).root,
      let members = try? root[section]?.members()
    else { return [:] }
    let lines = members.map { ($0.name, text.position(ofKeyOfValueAt: $0.value.text.startIndex).line) }
    return Dictionary(lines) { first, _ in first }
  }
}
