import JSON

/// Where a profile can be added to the text of a configuration, so that every other byte stays as it is.
package struct ConfigurationPlace: Sendable, Equatable {
  /// The byte behind the brace that opens the section.
  package let offset: Int
  /// Whether the section is `profiles`; false for the outermost one, which has no such section yet.
  package let isInProfiles: Bool

  /// Finds it; nil where the text is no object, or its `profiles` is none.
  ///
  /// - Parameter bytes: what stands in the file.
  package init?(in bytes: [UInt8]) {
    guard let text = try? JSON5Text(converting: bytes), let root = try? JSONDocument(parsing: text.json).root,
      root.kind == .object
    else { return nil }
    let profiles = root["profiles"]
    guard profiles.map({ $0.kind == .object }) ?? true,
      let brace = text.sourceByte(ofJSONByte: (profiles ?? root).text.startIndex)
    else { return nil }
    offset = brace + 1
    isInProfiles = profiles != nil
  }
}
