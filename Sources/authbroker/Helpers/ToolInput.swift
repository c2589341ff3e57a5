import LinuxSystem

/// What a tool writes to a helper's standard input.
enum ToolInput {
  /// The longest input that is read: requests of tools have a few hundred bytes, headers of an answer a few thousand.
  static let longest = 256 * 1024

  /// Reads standard input to its end.
  ///
  /// - Returns: what was read; nil where it is longer than ``longest``.
  static func read() -> [UInt8]? {
    let stream = FileDescriptor(owning: 0)
    let text = all(of: stream)
    // The stream belongs to the process, not to this function.
    _ = stream.release()
    return text
  }

  /// Reads a stream to its end; nil where it is longer than ``longest``.
  static func all(of stream: borrowing FileDescriptor) -> [UInt8]? {
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    var isTooLong = false
    // To the end even then: a tool that still writes must not be ended by a broken pipe.
    while case .bytes(let count) = stream.read(into: &chunk) {
      isTooLong = isTooLong || text.count + count > longest
      if !isTooLong { text.append(contentsOf: chunk[..<count]) }
    }
    return isTooLong ? nil : text
  }
}
