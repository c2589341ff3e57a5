package import ConfigurationFile
package import HTTP

/// A profile's section `tls`.
extension TLSPolicy {
  /// Reads the section, with the default of each setting that is absent.
  package init(_ section: inout ConfigurationSection) {
    let pins = Self.pins(&section)
    self.init(caFile: section.authorityFile("caFile"), pins: pins)
    section.finish()
  }

  private static func pins(_ section: inout ConfigurationSection) -> PinSet? {
    guard let pins = section.strings("pins") else { return nil }
    do throws(PinSet.Refusal) { return try PinSet(pins) } catch {
      switch error {
      case .malformed(let index):
        section.report(
          "pins", element: index, "must be a pin such as \"sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\"")
      case .spareMissing, .tooMany:
        section.report("pins", "must be 2 to \(PinSet.most) different pins: one in use, and a spare one")
      }
      return nil
    }
  }
}
