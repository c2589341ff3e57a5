import CLinux

extension Terminal {
  /// Asks at the controlling terminal and reads one line, which is shown as it is typed.
  ///
  /// - Parameter prompt: shown before the answer.
  /// - Returns: the line without its end.
  /// - Throws: if there is no terminal or no answer.
  package static func readVisibleLine(prompt: String) throws(Refusal) -> String {
    let terminal: FileDescriptor
    do { terminal = try FileDescriptor.open("/dev/tty", .readWrite) } catch { throw .noTerminal }
    _ = terminal.write(Array(prompt.utf8).span)
    var line = [UInt8](repeating: 0, count: 4096)
    guard case .bytes(let count) = terminal.read(into: &line), line[count - 1] == UInt8(ascii: "\n") else {
      // What is said about it begins on a line of its own.
      _ = terminal.write([UInt8(ascii: "\n")].span)
      throw .noAnswer
    }
    return String(decoding: line[..<(count - 1)], as: UTF8.self)
  }
}
