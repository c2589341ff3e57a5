/// A string that a provider chose and that people see: nothing in it can steer a terminal, hide or reorder what is read.
///
/// Control characters (C0, DEL, C1), marks of writing direction, characters without width, line and paragraph
/// separators, tags and code points for private use are left out; what is longer than ``longest`` is cut. Terminals
/// obey such characters (CVE-2024-52005), and reordering hides what is said (CVE-2021-42574).
package struct SanitizedText: Equatable, Sendable {
  /// The most characters (Unicode scalars): more than any name or masked address has.
  package static let longest = 256

  /// The sanitised string; may be empty.
  package let text: String
  /// Whether it is what the provider wrote, to the last character.
  package let isUnchanged: Bool

  /// Takes a string.
  package init(_ raw: String) {
    var kept = String.UnicodeScalarView()
    var count = 0
    var changed = false
    for scalar in raw.unicodeScalars {
      guard count < Self.longest else {
        changed = true
        break
      }
      guard Self.isHarmless(scalar) else {
        changed = true
        continue
      }
      kept.append(scalar)
      count += 1
    }
    text = String(kept)
    isUnchanged = !changed
  }

  /// The text; nil where nothing is left of it.
  package var orNil: String? { text.isEmpty ? nil : text }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    // `format` has everything without width: direction marks, joiners, the byte order mark, tags.
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
    default: true
    }
  }
}
