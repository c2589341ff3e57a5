/// Lines in a file of lines, between two comments that mark them as this program's.
struct BlockStep: SetupStep {
  /// The file.
  let file: String
  /// The lines, without the marks.
  let lines: [String]
  /// What a line of the user's may not begin with: it would contradict these lines, or make the file invalid with them.
  var conflicts: [String] = []

  private static let first = "# authbroker: begin (made by authbroker helper install)"
  private static let last = "# authbroker: end"

  var title: String { "the lines in \(file.shellQuoted)" }

  var text: String { "in \(file.shellQuoted):\n" + lines.map { "  " + $0 }.joined(separator: "\n") }

  private var block: String { ([Self.first] + lines + [Self.last]).map { $0 + "\n" }.joined() }

  func state(_ setup: SetupContext) -> SetupState {
    guard let parts = try? parts() else { return .missing }
    if let obstacle = obstacle(in: parts) { return .blocked(obstacle) }
    return parts.block == block ? .installed : .missing
  }

  func install(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    guard let parts = try parts() else {
      try ToolFile(path: file).write(Array(block.utf8))
      return true
    }
    if let obstacle = obstacle(in: parts) { throw CommandFailure(.failure, obstacle) }
    guard parts.block != block else { return false }
    let before = parts.before.isEmpty || parts.before.hasSuffix("\n") ? parts.before : parts.before + "\n"
    try ToolFile(path: file).write(Array((before + block + parts.after).utf8))
    return true
  }

  func remove(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    guard let parts = try parts(), !parts.block.isEmpty else { return false }
    let rest = parts.before + parts.after
    let configuration = ToolFile(path: file)
    if rest.isEmpty { try configuration.remove() } else { try configuration.write(Array(rest.utf8)) }
    return true
  }

  /// A file around the block.
  private struct Parts {
    var before = ""
    var block = ""
    var after = ""
  }

  /// - Returns: nil where there is no such file.
  /// - Throws: a failure where it cannot be read, or its marks are not in order.
  private func parts() throws(CommandFailure) -> Parts? {
    guard let bytes = try ToolFile(path: file).read() else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(.failure, "\(file.shellQuoted) is not UTF-8 text")
    }
    guard let begin = text.firstRange(of: Self.first + "\n") else { return Parts(before: text) }
    guard let end = text[begin.upperBound...].firstRange(of: Self.last + "\n") else {
      throw CommandFailure(.failure, "\(file.shellQuoted) has a line \"\(Self.first)\" and none that ends it")
    }
    return Parts(
      before: String(text[..<begin.lowerBound]), block: String(text[begin.lowerBound..<end.upperBound]),
      after: String(text[end.upperBound...]))
  }

  private func obstacle(in parts: Parts) -> String? {
    let own = (parts.before + parts.after).split(separator: "\n").map { $0.drop { " \t".contains($0) } }
    guard let conflict = conflicts.first(where: { word in own.contains { $0.hasPrefix(word) } }) else { return nil }
    return "\(file.shellQuoted) has an entry \(conflict) of its own"
  }
}
