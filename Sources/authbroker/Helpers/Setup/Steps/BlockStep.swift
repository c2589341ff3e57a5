/// Lines in a file of lines, between two comments that mark them as this program's.
final class BlockStep: SetupStep {
  /// The file.
  let file: String
  /// What keeps several blocks of one file apart, in the mark; empty for a file that has one.
  let label: String
  /// The lines, without the marks.
  let lines: [String]
  /// What a line of the user's may not begin with: it would contradict these lines, or make the file invalid with them.
  let conflicts: [String]

  /// Lines.
  init(file: String, label: String = "", lines: [String], conflicts: [String] = []) {
    self.file = file
    self.label = label
    self.lines = lines
    self.conflicts = conflicts
  }

  private static let start = "# authbroker: begin "
  private static let maker = "(made by authbroker helper install)"
  private static let last = "# authbroker: end"

  var title: String { "the lines in \(file.shellQuoted)" }

  var text: String { "in \(file.shellQuoted):\n" + lines.map { "  " + $0 }.joined(separator: "\n") }

  private var first: String { Self.start + (label.isEmpty ? "" : label + " ") + Self.maker }

  /// The blocks of a file, whatever their lines are; none where it cannot be read.
  static func installed(in file: String) -> [BlockStep] {
    guard let bytes = try? ToolFile(path: file).read() else { return [] }
    let texts = lines(of: bytes).map { String(decoding: text(of: $0), as: UTF8.self) }
    var blocks: [BlockStep] = []
    for (index, text) in texts.enumerated() where text.hasPrefix(start) && text.hasSuffix(maker) {
      let label = text.dropFirst(start.count).dropLast(maker.count)
      let own = texts[(index + 1)...].prefix { $0 != last }
      blocks.append(BlockStep(file: file, label: label.split(separator: " ").joined(separator: " "), lines: Array(own)))
    }
    return blocks
  }

  private var block: String { ([first] + lines + [Self.last]).map { $0 + "\n" }.joined() }

  func state(_ setup: SetupContext) -> SetupState {
    guard let parts = try? parts() else { return .missing }
    if let obstacle = obstacle(in: parts) { return .blocked(obstacle) }
    return parts.block == Array(block.utf8) ? .installed : .missing
  }

  func install(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    try ToolFile(path: file).exclusively(makingDirectory: true) { () throws(CommandFailure) in try add(setup) }
  }

  func remove(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    try ToolFile(path: file).exclusively(makingDirectory: false) { () throws(CommandFailure) in try takeOut(setup) }
  }

  private func add(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    guard let parts = try parts() else {
      try ToolFile(path: file).write(Array(block.utf8))
      return true
    }
    if let obstacle = obstacle(in: parts) { throw CommandFailure(.failure, obstacle) }
    guard parts.block != Array(block.utf8) else { return false }
    let newline = UInt8(ascii: "\n")
    let before = parts.before.isEmpty || parts.before.last == newline ? parts.before : parts.before + [newline]
    try ToolFile(path: file).write(before + Array(block.utf8) + parts.after)
    return true
  }

  private func takeOut(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    guard let parts = try parts(), !parts.block.isEmpty else { return false }
    let rest = parts.before + parts.after
    let configuration = ToolFile(path: file)
    if rest.isEmpty { try configuration.remove() } else { try configuration.write(rest) }
    return true
  }

  /// A file around the block: whole lines of bytes, whose ends stay as they are.
  private struct Parts {
    var before: [UInt8] = []
    var block: [UInt8] = []
    var after: [UInt8] = []

    mutating func append(_ line: ArraySlice<UInt8>, at place: Place) {
      switch place {
      case .before: before += line
      case .block: block += line
      case .after: after += line
      }
    }
  }

  /// Where a line of a file stands.
  private enum Place {
    case before
    case block
    case after
  }

  /// - Returns: nil where there is no such file.
  /// - Throws: a failure where it cannot be read, or its marks are not in order.
  private func parts() throws(CommandFailure) -> Parts? {
    guard let bytes = try ToolFile(path: file).read() else { return nil }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw CommandFailure(.failure, "\(file.shellQuoted) is not UTF-8 text")
    }
    var parts = Parts()
    var place = Place.before
    for line in Self.lines(of: bytes) {
      let text = Self.text(of: line)
      if place == .before, text.elementsEqual(first.utf8) { place = .block }
      parts.append(line, at: place)
      if place == .block, text.elementsEqual(Self.last.utf8) { place = .after }
    }
    guard place != .block else {
      throw CommandFailure(.failure, "\(file.shellQuoted) has a line \"\(first)\" and none that ends it")
    }
    return parts
  }

  /// The lines of a file, each with its end.
  private static func lines(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
      lines.append(rest[..<end])
      rest = rest[end...]
    }
    return lines
  }

  /// A line without its end, which some editors write as two bytes.
  private static func text(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = line
    for end in "\n\r".utf8 where text.last == end { text.removeLast() }
    return text
  }

  /// Blanks and quotes make no difference: `[registry]` is also `[ "registry" ]` (TOML 1.0, "Keys").
  private func obstacle(in parts: Parts) -> String? {
    let own = Self.lines(of: parts.before + parts.after).map { line in
      Self.text(of: line).filter { !" \t\"'".utf8.contains($0) }
    }
    guard let conflict = conflicts.first(where: { word in own.contains { $0.starts(with: word.utf8) } }) else {
      return nil
    }
    return "\(file.shellQuoted) has an entry \(conflict) of its own"
  }
}
