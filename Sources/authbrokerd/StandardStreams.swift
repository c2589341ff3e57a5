import LinuxSystem

/// Words for people on standard error.
enum StandardError {
  /// Writes a text, as far as it is taken within a second; nothing can be told where that fails.
  static func write(_ text: String) {
    let own = FileDescriptor(owning: 2)
    let copy = try? own.duplicate()
    _ = own.release()
    if let copy { BoundedWriting.write(text, to: copy) }
  }

  /// Writes a line of the log, and waits for its reader: for the thread that writes the log.
  static func writeWaiting(_ line: [UInt8]) { StandardOutput.write(line, to: 2) }
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
