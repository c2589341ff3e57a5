import LinuxSystem

/// Words for people on standard error.
enum StandardError {
  /// Writes a string, as far as it is taken within a second; a failure cannot be reported anywhere.
  static func write(_ text: String) {
    let own = FileDescriptor(owning: 2)
    let copy = try? own.duplicate()
    _ = own.release()
    if let copy { BoundedWriting.write(text, to: copy) }
  }

  /// Writes a line of the log, and waits for its reader: for the thread that writes the log.
  static func writeWaiting(_ line: [UInt8]) { try? StandardOutput.write(line, to: 2) }
}

/// Words for people on standard output.
enum StandardOutput {
  /// Writes a string, and ends the process with 1 where it cannot be written.
  static func write(_ text: String) {
    do throws(Errno) { try write(Array(text.utf8), to: 1) } catch {
      if error != .brokenPipe { StandardError.write("authbroker: standard output cannot be written: \(error)\n") }
      ProcessImage.end(1)
    }
  }

  fileprivate static func write(_ bytes: [UInt8], to number: Int32) throws(Errno) {
    let stream = FileDescriptor(owning: number)
    var failure: Errno?
    do throws(Errno) { try stream.writeAll(bytes.span) } catch { failure = error }
    // The stream belongs to the process, not to this function.
    _ = stream.release()
    if let failure { throw failure }
  }
}
