import ConfigurationFile

/// A host's name of labels of letters, digits and hyphens (RFC 1123, section 2.1), as a browser shows it.
package struct DomainName: Sendable, Equatable {
  /// In small letters.
  let text: String

  /// Reads a name; nil for what is none.
  ///
  /// Letters beyond ASCII are written as RFC 5890 encodes them.
  package init?(_ text: String) {
    let text = text.lowercased()
    let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard text.utf8.count <= 253, labels.allSatisfy(Self.isLabel) else { return nil }
    self.text = text
  }

  /// Reads a setting; nil where it is absent or faulty.
  init?(_ section: inout ConfigurationSection, _ key: String) {
    guard let text = section.string(key) else { return nil }
    guard let name = DomainName(text) else {
      section.report(key, "must be the name of a host, not\(section.quoted(key))", "write \"login.example.com\"")
      return nil
    }
    self = name
  }

  private static func isLabel(_ label: Substring.UTF8View) -> Bool {
    let hyphen = UInt8(ascii: "-")
    return (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
      && label.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == hyphen
      }
  }
}
