import LinuxSystem

/// Words for people on standard error.
enum StandardError {
  /// Writes a text; nobody is left to tell where that fails.
  static func write(_ text: String) { write(Array(text.utf8)) }

  /// Writes a line that is made already.
  static func write(_ line: [UInt8]) { StandardOutput.write(line, to: 2) }
}

/// Words for people on standard output.
enum StandardOutput {
  /// Writes a text.
  static func write(_ text: String) { write(Array(text.utf8), to: 1) }

  fileprivate static func write(_ bytes: [UInt8], to number: Int32) {
    let stream = FileDescriptor(owning: number)
    try? stream.writeAll(bytes.span)
    _ = stream.release()
  }
}
