import CLinux

/// Moving bytes. Every call is restarted when a signal interrupts it, moves what it can and says how much that was.
extension FileDescriptor {
  /// Reads once into the part of `buffer` from `start` up to `limit`, or its end, which must not be empty.
  package func read(into buffer: inout [UInt8], at start: Int = 0, upTo limit: Int? = nil) -> IOResult {
    let end = limit ?? buffer.count
    precondition(start >= 0 && start < end && end <= buffer.count, "read into an empty range")
    let number = self.number
    // The pointer is used inside the closure only, and the bounds were checked above.
    return unsafe buffer.withUnsafeMutableBytes { bytes in
      // `start` is inside the buffer, and the kernel writes at most what is left up to `end`.
      let result = unsafe clinux_read(number, bytes.baseAddress.map { unsafe $0 + start }, end - start)
      return IOResult(reading: result)
    }
  }

  /// Reads once into the part of a span that begins at `start`, which must not be empty: for bytes that must not pass
  /// through an array.
  package func read(into span: inout MutableSpan<UInt8>, at start: Int = 0) -> IOResult {
    precondition(start >= 0 && start < span.count, "read into an empty range")
    let number = self.number
    // The pointer is used inside the closure only, and the bounds were checked above.
    return unsafe span.withUnsafeMutableBytes { bytes in
      // `start` is inside the span, and the kernel writes at most the rest of it.
      let result = unsafe clinux_read(number, bytes.baseAddress.map { unsafe $0 + start }, bytes.count - start)
      return IOResult(reading: result)
    }
  }

  /// Reads once from a socket without waiting, whatever its flags say: for an open file that others share.
  package func receive(into buffer: inout [UInt8], at start: Int = 0, upTo limit: Int? = nil) -> IOResult {
    let end = limit ?? buffer.count
    precondition(start >= 0 && start < end && end <= buffer.count, "read into an empty range")
    let number = self.number
    // The pointer is used inside the closure only, and the bounds were checked above.
    return unsafe buffer.withUnsafeMutableBytes { bytes in
      // `start` is inside the buffer, and the kernel writes at most what is left up to `end`.
      let result = unsafe clinux_recv(number, bytes.baseAddress.map { unsafe $0 + start }, end - start)
      return IOResult(reading: result)
    }
  }

  /// Writes once: a pipe, a file or a terminal.
  ///
  /// A pipe without a reader raises SIGPIPE unless that is ignored.
  package func write(_ bytes: Span<UInt8>) -> IOResult {
    let number = self.number
    // The pointer is used inside the closure only, and the kernel reads at most `count` bytes.
    return unsafe bytes.withUnsafeBytes { bytes in
      // As above.
      IOResult(writing: unsafe clinux_write(number, bytes.baseAddress, bytes.count))
    }
  }

  /// Writes once from a range of an array.
  package func write(_ buffer: borrowing [UInt8], _ range: Range<Int>) -> IOResult {
    write(buffer.span.extracting(range))
  }

  /// Sends once on a socket without waiting and without SIGPIPE, whatever its flags say.
  package func send(_ bytes: Span<UInt8>) -> IOResult {
    let number = self.number
    // The pointer is used inside the closure only, and the kernel reads at most `count` bytes.
    return unsafe bytes.withUnsafeBytes { bytes in
      // As above.
      IOResult(writing: unsafe clinux_send(number, bytes.baseAddress, bytes.count, 0))
    }
  }

  /// Sends once from a range of an array.
  package func send(_ buffer: borrowing [UInt8], _ range: Range<Int>) -> IOResult {
    send(buffer.span.extracting(range))
  }

  /// Sends everything on a socket and waits as long as its flags allow; never raises SIGPIPE.
  ///
  /// - Throws: what send(2) says, `EAGAIN` too.
  package func sendAll(_ bytes: Span<UInt8>) throws(Errno) {
    var sent = 0
    let number = self.number
    while sent < bytes.count {
      // The pointer is used inside the closure only, and the kernel reads at most `count` bytes.
      let result = unsafe bytes.extracting(sent...).withUnsafeBytes { rest in
        // As above.
        unsafe clinux_send(number, rest.baseAddress, rest.count, 1)
      }
      guard result >= 0 else { throw Errno(code: Int32(truncatingIfNeeded: -result)) }
      sent += Int(result)
    }
  }

  /// Writes everything to a blocking descriptor.
  ///
  /// - Throws: what write(2) says; part of the bytes may have been written.
  package func writeAll(_ bytes: Span<UInt8>) throws(Errno) {
    var written = 0
    while written < bytes.count {
      switch write(bytes.extracting(written...)) {
      case .bytes(let count): written += count
      case .wouldBlock: throw .again
      case .endOfStream: return
      case .failed(let error): throw error
      }
    }
  }

  /// Writes bytes at a place of a file, whatever its position.
  ///
  /// - Throws: what pwrite(2) says; part of the bytes may have been written.
  package func writeAll(_ bytes: Span<UInt8>, at offset: Int64) throws(Errno) {
    var written = 0
    let number = self.number
    while written < bytes.count {
      // The pointer is used inside the closure only, and the kernel reads at most `count` bytes.
      let result = unsafe bytes.extracting(written...).withUnsafeBytes { rest in
        // As above.
        unsafe clinux_pwrite(number, rest.baseAddress, rest.count, offset + Int64(written))
      }
      guard result >= 0 else { throw Errno(code: Int32(truncatingIfNeeded: -result)) }
      written += Int(result)
    }
  }

  /// Reserves the space for the first `byteCount` bytes of a file, so that writing them later cannot find the disk
  /// full.
  ///
  /// - Throws: what posix_fallocate(3) says.
  package func allocate(byteCount: Int64) throws(Errno) {
    _ = try Errno.check(clinux_allocate(number, byteCount))
  }

  /// Reads a file from `offset` on, whatever its position, up to `limit` bytes.
  ///
  /// - Throws: what pread(2) says.
  package func contents(from offset: Int64 = 0, limit: Int) throws(Errno) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: limit)
    var filled = 0
    let number = self.number
    while filled < limit {
      // The pointer is used inside the closure only; `filled` < count, and the kernel writes at most the rest.
      let result = unsafe buffer.withUnsafeMutableBytes { bytes in
        // As above.
        unsafe clinux_pread(
          number, bytes.baseAddress.map { unsafe $0 + filled }, bytes.count - filled, offset + Int64(filled))
      }
      guard result >= 0 else { throw Errno(code: Int32(truncatingIfNeeded: -result)) }
      if result == 0 { break }
      filled += Int(result)
    }
    buffer.removeLast(limit - filled)
    return buffer
  }
}
