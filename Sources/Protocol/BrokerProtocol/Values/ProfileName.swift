public import JSON

/// The name of a configured profile: one account at one provider.
///
/// Names are `[a-z0-9][a-z0-9._-]{0,63}`, so that equal strings are equal bytes and no name can be read as a path.
public struct ProfileName: Hashable, Sendable, CustomStringConvertible, Comparable {
  /// The name as it is written in the configuration.
  public let description: String

  /// The profile that requests mean where several are configured and none is named.
  public static let `default` = ProfileName(unchecked: "default")

  private init(unchecked: String) {
    description = unchecked
  }

  /// A name, unless the text breaks the rule.
  public init?(_ text: String) {
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let marks = "._-".utf8
    guard let first = text.utf8.first, letters.contains(first) || digits.contains(first), text.utf8.count <= 64,
      text.utf8.allSatisfy({ letters.contains($0) || digits.contains($0) || marks.contains($0) })
    else { return nil }
    description = text
  }

  /// Orders names by their bytes.
  public static func < (left: ProfileName, right: ProfileName) -> Bool {
    left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
  }
}

extension ProfileName: JSONEncodable, JSONDecodable {
  /// Writes the name as a string.
  public func encode(to writer: inout JSONWriter) { writer.string(description) }

  /// Reads a name.
  public init(from node: JSONNode) throws(JSONMismatch) {
    guard let name = ProfileName(try node.string()) else {
      throw node.mismatch("a profile name: a-z, 0-9, '.', '_' and '-', at most 64 characters")
    }
    self = name
  }
}
