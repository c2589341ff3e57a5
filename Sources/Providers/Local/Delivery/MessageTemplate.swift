/// The owner's own text of a message, with names in braces where something is put in.
struct MessageTemplate: Sendable, Equatable {
  /// A field of a template.
  enum Field: String, CaseIterable {
    /// The one-time code.
    case code
    /// The token.
    case token
    /// How long that is good, in English, as in `5 minutes`.
    case lifetime
    /// The same as a number.
    case minutes
  }

  /// Why a text cannot be one.
  enum Mistake: Error, Equatable {
    /// It has more than ``largestByteCount`` bytes, or a control or invisible character.
    case text
    /// A name in braces is none of those that the message has.
    case field
    /// The field with the message's value is missing, or is there twice.
    case value
  }

  private enum Part: Equatable {
    case text(String)
    case field(Field)
  }

  /// As much as ten SMS.
  static let largestByteCount = 1600

  private let parts: [Part]
  private let value: Field?

  /// Reads a text.
  ///
  /// - Parameters:
  ///   - text: what the message says.
  ///   - value: what must be in it, once; nil for a notice, which has no field.
  /// - Throws: what is wrong with it.
  init(_ text: String, value: Field?) throws(Mistake) {
    let isPlain = text.unicodeScalars.allSatisfy { $0 == "\n" || !Self.isHidden($0) }
    guard !text.isEmpty, text.utf8.count <= Self.largestByteCount, isPlain else { throw .text }
    var parts: [Part] = []
    var rest = text[...]
    while let opening = rest.firstIndex(of: "{") {
      guard let closing = rest[opening...].firstIndex(of: "}"),
        let field = Field(rawValue: String(rest[rest.index(after: opening)..<closing])),
        let value, field == value || field == .lifetime || field == .minutes
      else { throw .field }
      parts += [.text(String(rest[..<opening])), .field(field)]
      rest = rest[rest.index(after: closing)...]
    }
    parts.append(.text(String(rest)))
    guard let value else {
      (self.parts, self.value) = (parts, nil)
      return
    }
    guard parts.count(where: { $0 == .field(value) }) == 1 else { throw .value }
    (self.parts, self.value) = (parts, value)
  }

  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
    default: false
    }
  }

  /// The text before the value and the text after it.
  func text(lifetime: Duration?) -> (before: String, after: String) {
    var (before, after) = ("", "")
    var isBehind = false
    for part in parts {
      let text: String
      switch part {
      case .field(let field) where field == value:
        isBehind = true
        continue
      case .text(let words): text = words
      case .field(.minutes): text = lifetime.map { String(max(1, $0.components.seconds / 60)) } ?? ""
      case .field: text = lifetime.map(MessageContent.words) ?? ""
      }
      if isBehind { after += text } else { before += text }
    }
    return (before, after)
  }
}
