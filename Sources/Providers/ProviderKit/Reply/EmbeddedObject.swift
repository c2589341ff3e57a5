import JSON
import SecretMemory

/// Finds the object with tokens in a body that is no object itself: a server that writes its warnings before it, or a
/// page around it.
///
/// Pages repeat requests, so a refresh token alone is no answer; and of two different answers neither counts.
struct EmbeddedObject {
  private let vital: VitalMembers
  private let limits: JSONLimits
  /// The bytes that may still be read, for ends and for tokens: once they are used up, nothing is found, so that a page
  /// full of braces costs no more than a few readings of it.
  private var budget: Int

  /// A search for these members.
  init(_ vital: VitalMembers, _ limits: JSONLimits, in text: [UInt8]) {
    self.vital = vital
    self.limits = limits
    budget = 16 * text.count
  }

  /// The one object that has an access token; nil where there is none, or there are several that differ.
  mutating func find(in text: [UInt8]) -> [UInt8]? {
    var found: Range<Int>?
    var index = 0
    while index < text.count {
      if budget <= 0 { return nil }
      guard isBeginning(index, text), let end = end(of: index, text) else {
        index += 1
        continue
      }
      switch hasToken(text[index..<end]) {
      case nil: index += 1
      case false?: index = end
      case true?:
        if let found, !text[found].elementsEqual(text[index..<end]) { return nil }
        found = index..<end
        index = end
      }
    }
    return found.map { Array(text[$0]) }
  }

  /// Whether a JSON object with a member could begin at an index: most braces of scripts and styles begin none.
  private func isBeginning(_ index: Int, _ text: [UInt8]) -> Bool {
    text[index] == UInt8(ascii: "{") && text[(index + 1)...].first { $0 > 0x20 } == UInt8(ascii: "\"")
  }

  /// Finds the end of an object by its braces and quotes.
  private mutating func end(of start: Int, _ text: [UInt8]) -> Int? {
    var (index, depth, isInString) = (start, 0, false)
    defer { budget -= index - start }
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "\\") where isInString: index += 1
      case UInt8(ascii: "\""): isInString.toggle()
      case UInt8(ascii: "{") where !isInString: depth += 1
      case UInt8(ascii: "}") where !isInString:
        depth -= 1
        if depth == 0 { return index + 1 }
      default: break
      }
      index += 1
    }
    return nil
  }

  /// Whether an object has an access token; nil for a part that is no object.
  private mutating func hasToken(_ part: ArraySlice<UInt8>) -> Bool? {
    budget -= part.count
    var bytes = Array(part)
    defer { wipe(&bytes) }
    return Self.reads(bytes, limits, vital)
  }

  /// In a function of its own: when it returns, nothing refers to the bytes any more.
  private static func reads(_ bytes: [UInt8], _ limits: JSONLimits, _ vital: VitalMembers) -> Bool? {
    guard let root = try? JSONDocument(parsing: bytes, limits: limits).root else { return nil }
    return vital.isGiven(in: root)
  }
}
