/// The syntax of a tool's file of lines, as far as it takes to recognise a broken one: nothing is added to that.
enum ToolSyntax: Sendable {
  /// Any lines.
  case lines
  /// Sections and their values (AWS's `config`).
  case ini
  /// TOML 1.0 (cargo).
  case toml
  /// Blocks in braces (Terraform), with the comments of HCL.
  case blocks

  /// The number of the first line that cannot be right; nil where there is none.
  func fault(in bytes: [UInt8]) -> Int? {
    if case .lines = self { return nil }
    var scan = Scan(syntax: self)
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      guard scan.take(line.last == UInt8(ascii: "\r") ? line.dropLast() : line) else { return index + 1 }
    }
    return scan.isInside ? scan.begin : nil
  }

  /// The lines, without their ends, that do not begin in a string, a comment or brackets of a line before.
  func statements(in bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var scan = Scan(syntax: self)
    return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).filter { line in
      defer { _ = scan.take(line) }
      return !scan.isInside
    }
  }

  private struct Scan {
    let syntax: ToolSyntax
    /// How many brackets are open.
    private var depth = 0
    /// The end of the open string or comment of several lines; nil outside of one.
    private var end: [UInt8]?
    private var line = 0
    /// The line at which the open part began.
    private(set) var begin = 1

    init(syntax: ToolSyntax) { self.syntax = syntax }

    var isInside: Bool { depth > 0 || end != nil }

    /// - Returns: whether the line may stand where it does.
    mutating func take(_ line: ArraySlice<UInt8>) -> Bool {
      self.line += 1
      if isInside { return scan(line) }
      begin = self.line
      let text = line.drop(while: Self.isBlank)
      guard let first = text.first, first != UInt8(ascii: "#") else { return true }
      switch syntax {
      case .lines: return true
      case .ini: return isINI(text, isIndented: text.count < line.count)
      case .blocks: return scan(text)
      case .toml:
        if first == UInt8(ascii: "[") { return scan(text) && !isInside }
        guard let equals = Self.place(of: UInt8(ascii: "="), in: text), equals > text.startIndex else { return false }
        let value = text[(equals + 1)...].drop(while: Self.isBlank)
        return value.first.map { $0 != UInt8(ascii: "#") } == true && scan(value)
      }
    }

    private func isINI(_ text: ArraySlice<UInt8>, isIndented: Bool) -> Bool {
      switch text.first {
      case UInt8(ascii: ";"): true
      case UInt8(ascii: "["): text.contains(UInt8(ascii: "]"))
      default: isIndented || text.contains(UInt8(ascii: "="))
      }
    }

    /// Goes over strings, brackets and a comment.
    private mutating func scan(_ text: ArraySlice<UInt8>) -> Bool {
      var rest = text
      while let byte = rest.first {
        if let end {
          guard let after = Self.after(end, in: rest) else { return true }
          rest = rest[after...]
          self.end = nil
        } else if Self.quotes.contains(byte), syntax == .toml || byte == UInt8(ascii: "\"") {
          let long = [byte, byte, byte]
          if syntax == .toml, rest.starts(with: long) {
            (end, rest) = (long, rest.dropFirst(3))
          } else {
            guard let place = Self.endOfString(in: rest) else { return false }
            rest = rest[(place + 1)...]
          }
        } else if byte == UInt8(ascii: "#") || syntax == .blocks && rest.starts(with: "//".utf8) {
          return true
        } else if syntax == .blocks, rest.starts(with: "/*".utf8) {
          (end, rest) = (Array("*/".utf8), rest.dropFirst(2))
        } else {
          if "[{".utf8.contains(byte) { depth += 1 }
          if "]}".utf8.contains(byte) { depth -= 1 }
          guard depth >= 0 else { return false }
          rest = rest.dropFirst()
        }
      }
      return true
    }

    private static let quotes = Array("\"'".utf8)

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// The end of a string that begins here; a backslash escapes between double quotes alone.
    private static func endOfString(in text: ArraySlice<UInt8>) -> Int? {
      guard let quote = text.first else { return nil }
      var index = text.startIndex + 1
      while index < text.endIndex, text[index] != quote {
        index += quote == UInt8(ascii: "\"") && text[index] == UInt8(ascii: "\\") ? 2 : 1
      }
      return index < text.endIndex ? index : nil
    }

    /// The position of a byte outside of strings.
    private static func place(of wanted: UInt8, in text: ArraySlice<UInt8>) -> Int? {
      var index = text.startIndex
      while index < text.endIndex, text[index] != wanted {
        guard quotes.contains(text[index]) else {
          index += 1
          continue
        }
        guard let end = endOfString(in: text[index...]) else { return nil }
        index = end + 1
      }
      return index < text.endIndex ? index : nil
    }

    /// The position behind an end; a string's may have two quotes of its own before it, and escapes between double
    /// ones.
    private static func after(_ end: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
      var rest = text
      while !rest.isEmpty, !rest.starts(with: end) {
        rest = rest.dropFirst(rest.first == UInt8(ascii: "\\") && end.first == UInt8(ascii: "\"") ? 2 : 1)
      }
      guard !rest.isEmpty else { return nil }
      rest = rest.dropFirst(end.count)
      guard end.count == 3 else { return rest.startIndex }
      return rest.startIndex + rest.prefix(2).prefix { $0 == end.first }.count
    }
  }
}
