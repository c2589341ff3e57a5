/// The path of a value in a text (RFC 6901).
public struct JSONPointer: Sendable, Equatable, CustomStringConvertible {
  /// The pointer's text: empty for the whole value, else `/name/0/…`.
  public let description: String

  /// The whole value.
  public static let root = JSONPointer(description: "")

  private init(description: String) {
    self.description = description
  }

  /// The pointer to a member of this value, `~` and `/` escaped as in RFC 6901, section 3.
  public func member(_ name: String) -> JSONPointer {
    var escaped = ""
    for character in name.unicodeScalars {
      switch character {
      case "~": escaped += "~0"
      case "/": escaped += "~1"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return JSONPointer(description: description + "/" + escaped)
  }

  /// The pointer to an element of this value.
  public func element(_ index: Int) -> JSONPointer {
    JSONPointer(description: description + "/" + String(index))
  }
}
