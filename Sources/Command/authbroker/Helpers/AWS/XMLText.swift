import TextCoding

/// The texts of a small XML document, by the names of the elements around them.
///
/// As much of XML 1.0 as a service answers with: elements, attributes (which are not kept), references to characters. A
/// document type, a section of CDATA, a comment or text beside elements is refused: the service has none of them.
struct XMLText {
  /// A document that cannot be read.
  struct Fault: Error, Equatable {}

  /// An element that holds text alone.
  struct Leaf: Equatable {
    /// The names of the elements, the outermost first, with slashes between them.
    let path: String
    /// Where its text is.
    let text: Range<Int>
  }

  private static let deepest = 16
  private static let mostLeaves = 64

  private let bytes: [UInt8]
  private var index = 0
  private var open: [(name: String, hasChildren: Bool)] = []
  /// Where the text begins that is being passed.
  private var textStart = 0
  private var leaves: [Leaf] = []

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The elements that hold text, in their order.
  static func leaves(of bytes: [UInt8]) throws(Fault) -> [Leaf] {
    var document = XMLText(bytes)
    try document.readDeclaration()
    while document.index < bytes.count {
      if bytes[document.index] == UInt8(ascii: "<") { try document.readTag() } else { document.index += 1 }
    }
    guard document.open.isEmpty, !document.leaves.isEmpty else { throw Fault() }
    try document.expectBlanks(upTo: bytes.count)
    return document.leaves
  }

  /// A text without the blanks around it, with its references resolved.
  ///
  /// - Returns: bytes that the caller wipes where they are a secret.
  static func resolved(_ text: ArraySlice<UInt8>) throws(Fault) -> [UInt8] {
    var rest = text.drop(while: isBlank)
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    var result: [UInt8] = []
    // A reference is longer than what it stands for.
    result.reserveCapacity(rest.count)
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "&") else {
        result.append(byte)
        continue
      }
      guard let end = rest.prefix(12).firstIndex(of: UInt8(ascii: ";")),
        let scalar = scalar(String(decoding: rest[..<end], as: UTF8.self))
      else { throw Fault() }
      result.append(contentsOf: String(Character(scalar)).utf8)
      rest = rest[(end + 1)...]
    }
    return result
  }

  /// What a reference stands for (XML 1.0, sections 4.1 and 4.6).
  private static func scalar(_ name: String) -> Unicode.Scalar? {
    switch name {
    case "amp": "&"
    case "lt": "<"
    case "gt": ">"
    case "quot": "\""
    case "apos": "'"
    default:
      if name.hasPrefix("#x") {
        UInt32(name.dropFirst(2), radix: 16).flatMap(visible)
      } else {
        name.hasPrefix("#") ? UInt32(name.dropFirst()).flatMap(visible) : nil
      }
    }
  }

  private static func visible(_ code: UInt32) -> Unicode.Scalar? {
    code >= 0x20 || code == 0x0A || code == 0x09 || code == 0x0D ? Unicode.Scalar(code) : nil
  }

  private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}

extension XMLText {
  private func starts(with text: String) -> Bool { bytes[index...].starts(with: text.utf8) }

  private func expectBlanks(upTo end: Int) throws(Fault) {
    guard bytes[textStart..<end].allSatisfy(Self.isBlank) else { throw Fault() }
  }

  private mutating func skipBlanks() { while index < bytes.count, Self.isBlank(bytes[index]) { index += 1 } }

  private mutating func take(_ character: Unicode.Scalar) throws(Fault) {
    guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { throw Fault() }
    index += 1
  }

  private mutating func readDeclaration() throws(Fault) {
    skipBlanks()
    if starts(with: "<?xml ") {
      guard let end = bytes[index...].firstIndex(of: UInt8(ascii: ">")), bytes[end - 1] == UInt8(ascii: "?") else {
        throw Fault()
      }
      index = end + 1
    }
    textStart = index
  }

  private mutating func readName() throws(Fault) -> String {
    let start = index
    while index < bytes.count, PercentEncoding.isUnreserved(bytes[index]) || bytes[index] == UInt8(ascii: ":") {
      index += 1
    }
    guard index > start else { throw Fault() }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  /// Reads the tag that begins here.
  private mutating func readTag() throws(Fault) {
    let start = index
    if starts(with: "</") {
      index += 2
      let name = try readName()
      skipBlanks()
      try take(">")
      try close(name, at: start)
    } else {
      // What else begins with this character, such as a comment, has no name.
      index += 1
      try expectPlaceForChild(at: start)
      open.append((try readName(), false))
      guard open.count <= Self.deepest else { throw Fault() }
      if try readAttributes() {
        textStart = index
        try close(open[open.count - 1].name, at: index)
      }
    }
    textStart = index
  }

  /// No second root, and no text beside elements.
  private mutating func expectPlaceForChild(at start: Int) throws(Fault) {
    try expectBlanks(upTo: start)
    guard !open.isEmpty else {
      guard leaves.isEmpty else { throw Fault() }
      return
    }
    open[open.count - 1].hasChildren = true
  }

  private mutating func close(_ name: String, at end: Int) throws(Fault) {
    guard let last = open.last, last.name == name else { throw Fault() }
    if last.hasChildren {
      try expectBlanks(upTo: end)
    } else {
      leaves.append(Leaf(path: open.map { $0.name }.joined(separator: "/"), text: textStart..<end))
      guard leaves.count <= Self.mostLeaves else { throw Fault() }
    }
    open.removeLast()
  }

  /// - Returns: whether the element ends here as well.
  private mutating func readAttributes() throws(Fault) -> Bool {
    while true {
      let before = index
      skipBlanks()
      if starts(with: "/>") {
        index += 2
        return true
      }
      if starts(with: ">") {
        index += 1
        return false
      }
      guard index > before else { throw Fault() }
      _ = try readName()
      skipBlanks()
      try take("=")
      skipBlanks()
      let quote: Unicode.Scalar = starts(with: "'") ? "'" : "\""
      try take(quote)
      while index < bytes.count, bytes[index] != UInt8(ascii: quote) {
        guard bytes[index] != UInt8(ascii: "<") else { throw Fault() }
        index += 1
      }
      try take(quote)
    }
  }
}
