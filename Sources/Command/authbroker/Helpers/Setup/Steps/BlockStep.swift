import JSON

/// Lines in a file of lines, between two comments that mark them as this program's.
final class BlockStep: SetupStep {
  /// The file.
  let file: String
  /// The label in the mark, for a file with several blocks; empty for a file that has one.
  let label: String
  /// The lines, without the marks.
  let lines: [String]
  /// The beginnings that a line of the user's may not have: it would contradict these lines, or make the file invalid
  /// with them.
  ///
  /// In TOML a key that is in a table stands behind it: `[table]key`.
  let conflicts: [String]
  /// The options that a line of the user's may not have before a comment.
  let conflictingOptions: [String]
  /// The syntax of the file.
  let syntax: ToolSyntax
  /// Whether the first line opens a table, and the others go into the user's own where there is one.
  let goesIntoTable: Bool

  /// Lines.
  init(
    file: String, label: String = "", lines: [String], conflicts: [String] = [], conflictingOptions: [String] = [],
    syntax: ToolSyntax = .lines, goesIntoTable: Bool = false
  ) {
    self.file = file
    self.label = label
    self.lines = lines
    self.conflicts = conflicts
    self.conflictingOptions = conflictingOptions
    self.syntax = syntax
    self.goesIntoTable = goesIntoTable
  }

  private static let start = "# authbroker: begin "
  private static let maker = "(made by authbroker helper install)"
  private static let last = "# authbroker: end"
  /// The note in the end mark that the line before the block got an end for it.
  private static let lineEndAdded = ", behind a line that had no end"

  var title: String { "the lines in \(file.shellQuoted)" }

  var text: String {
    let hasTable = ((try? parts()) ?? nil).flatMap(endOfTable) != nil
    let place = hasTable ? ", in its \(lines[0])" : ""
    let shown = hasTable ? lines.dropFirst() : lines[...]
    return "in \(file.shellQuoted)\(place):\n" + shown.map { "  " + $0 }.joined(separator: "\n")
  }

  private var first: String { Self.start + (label.isEmpty ? "" : label + " ") + Self.maker }

  /// The blocks of a file, whatever their lines are; one step that says so where it cannot be read.
  static func installed(in file: String) -> [any SetupStep] {
    do throws(CommandFailure) { return try blocks(in: file).steps } catch { return [UnreadableStep(error)] }
  }

  /// The blocks of a file, whatever their lines are.
  ///
  /// - Throws: as `ToolFile.read()`.
  static func blocks(in file: String) throws(CommandFailure) -> [BlockStep] {
    guard let bytes = try ToolFile(path: file).read() else { return [] }
    let texts = lines(of: bytes).map { String(decoding: text(of: $0), as: UTF8.self) }
    var blocks: [BlockStep] = []
    for (index, text) in texts.enumerated() where text.hasPrefix(start) && text.hasSuffix(maker) {
      let label = text.dropFirst(start.count).dropLast(maker.count)
      let own = texts[(index + 1)...].prefix { !isLast($0) }
      blocks.append(BlockStep(file: file, label: label.split(separator: " ").joined(separator: " "), lines: Array(own)))
    }
    return blocks
  }

  /// How many lines the block has is in its end, so that one of the user's between them is noticed.
  private func block(_ lines: [String], behindNoLineEnd isLineEndAdded: Bool) -> [UInt8] {
    let end = "\(Self.last) of \(lines.count.counted("line"))" + (isLineEndAdded ? Self.lineEndAdded : "")
    return Array(([first] + lines + [end]).map { $0 + "\n" }.joined().utf8)
  }

  private static func isLast(_ text: some StringProtocol) -> Bool { text == last || text.hasPrefix(last + " of ") }

  func state(_ setup: SetupContext) -> SetupState {
    guard let parts = try? parts() else { return .missing }
    if let obstacle = obstacle(in: parts) { return .blocked(obstacle) }
    return parts.lines == wanted(in: parts) ? .installed : .missing
  }

  func install(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    try ToolFile(path: file).exclusively(makingDirectory: true) { () throws(CommandFailure) in try add(setup) }
  }

  func remove(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    try ToolFile(path: file).exclusively(makingDirectory: false) { () throws(CommandFailure) in try takeOut(setup) }
  }

  private func add(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    guard var parts = try parts() else {
      try ToolFile(path: file).write(block(lines, behindNoLineEnd: false))
      return true
    }
    if let obstacle = obstacle(in: parts) { throw CommandFailure(.failure, obstacle) }
    let wanted = wanted(in: parts)
    guard parts.lines != wanted else { return false }
    try expectOwn(parts)
    if let number = syntax.fault(in: parts.before + parts.after) {
      throw CommandFailure(.failure, "line \(number) of \(file.shellQuoted) cannot be right; correct it first")
    }
    if parts.lines == nil, let end = endOfTable(in: parts) {
      (parts.before, parts.after) = (Array(parts.before[..<end]), Array(parts.before[end...]))
    }
    let newline = UInt8(ascii: "\n")
    let isAdded = parts.isLineEndAdded || !parts.before.isEmpty && parts.before.last != newline
    let before = isAdded && !parts.isLineEndAdded ? parts.before + [newline] : parts.before
    try ToolFile(path: file).write(before + block(wanted, behindNoLineEnd: isAdded) + parts.after)
    return true
  }

  private func takeOut(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    guard let parts = try parts(), parts.lines != nil else { return false }
    try expectOwn(parts)
    // What was appended since needs the end of the line before it.
    let before = parts.isLineEndAdded && parts.after.isEmpty ? parts.before.dropLast() : parts.before[...]
    let rest = Array(before) + parts.after
    let configuration = ToolFile(path: file)
    if rest.isEmpty { try configuration.remove() } else { try configuration.write(rest) }
    return true
  }

  /// A file around the block: whole lines of bytes, whose ends stay as they are.
  private struct Parts {
    var before: [UInt8] = []
    /// The lines between the marks; nil where there is no block.
    var lines: [String]?
    /// How many this program has written; nil where the end does not say.
    var count: Int?
    /// Whether the line before the block had no end.
    var isLineEndAdded = false
    var after: [UInt8] = []
  }

  /// Refuses a block that has lines of the user's.
  private func expectOwn(_ parts: Parts) throws(CommandFailure) {
    guard let count = parts.count, let lines = parts.lines, lines.count != count else { return }
    throw CommandFailure(
      .failure,
      "\(file.shellQuoted) has \(lines.count.counted("line")) where \(count) were made; move your own out of the marks")
  }

  /// - Returns: nil where there is no such file.
  /// - Throws: a failure where it cannot be read, or its marks are not in order.
  private func parts() throws(CommandFailure) -> Parts? {
    guard let bytes = try ToolFile(path: file).read() else { return nil }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw CommandFailure(.failure, "\(file.shellQuoted) is not UTF-8 text")
    }
    var parts = Parts()
    var rest = Self.lines(of: bytes)[...]
    while let line = rest.popFirst() {
      guard Self.text(of: line).elementsEqual(first.utf8) else {
        parts.before += line
        continue
      }
      let block = rest.map { String(decoding: Self.text(of: $0), as: UTF8.self) }
      guard let end = block.firstIndex(where: { Self.isLast($0) }) else {
        throw CommandFailure(.failure, "\(file.shellQuoted) has a line \"\(first)\" and none that ends it")
      }
      parts.lines = Array(block[..<end])
      parts.count = Int(block[end].dropFirst(Self.last.count + " of ".count).prefix { $0.isNumber })
      parts.isLineEndAdded = block[end].hasSuffix(Self.lineEndAdded)
      for line in rest.dropFirst(end + 1) { parts.after += line }
      break
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

  /// The lines without the first one where the user's own table has that.
  private func wanted(in parts: Parts) -> [String] {
    endOfTable(in: parts) == nil ? lines : Array(lines.dropFirst())
  }

  /// The end of the line that opens the user's own table; nil where there is none.
  private func endOfTable(in parts: Parts) -> Int? {
    guard goesIntoTable, let head = lines.first else { return nil }
    let bytes = parts.before + parts.after
    let line = syntax.statements(in: bytes).first { Self.plain($0).starts(with: head.utf8) }
    return line.map { min($0.endIndex + 1, bytes.count) }
  }

  /// Blanks and quotes make no difference: `[registry]` is also `[ "registry" ]` (TOML 1.0, "Keys").
  private static func plain(_ line: some Sequence<UInt8>) -> [UInt8] { line.filter { !" \t\r\"'".utf8.contains($0) } }

  private func obstacle(in parts: Parts) -> String? {
    var table: ArraySlice<UInt8> = []
    let own = syntax.statements(in: parts.before + parts.after).map { line in
      let text = Self.plain(line)
      guard syntax == .toml, !text.isEmpty else { return text }
      guard text[0] == UInt8(ascii: "[") else { return table + text }
      table = text[...(text.firstIndex(of: UInt8(ascii: "]")) ?? 0)]
      return text
    }
    let options = own.map { $0.prefix { $0 != UInt8(ascii: "#") } }
    let conflict =
      conflicts.first { word in own.contains { $0.starts(with: word.utf8) } }
      ?? conflictingOptions.first { word in options.contains { $0.firstOccurrence(of: Self.plain(word.utf8)) != nil } }
    return conflict.map { word in
      let key = word.hasSuffix("]") ? word[...] : word.split(separator: "]").last ?? ""
      return "\(file.shellQuoted) has an entry \(key) of its own"
    }
  }
}
