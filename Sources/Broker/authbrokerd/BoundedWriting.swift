import LinuxSystem

/// Writing to a descriptor that others share and that may not be read.
enum BoundedWriting {
  /// How long a string waits for a reader: a pipe that is not read must stop neither the loop nor the end of a process that
  /// holds the lock of a state directory.
  private static let patience = Duration.seconds(1)

  /// Writes a string, as far as it is taken within a second.
  static func write(_ text: String, to copy: consuming FileDescriptor) {
    guard let stream = try? InheritedStream(copy, .writing) else { return }
    let (bytes, end) = (Array(text.utf8), BootClock.now + patience)
    var written = 0
    while written < bytes.count {
      switch stream.write(bytes, written..<bytes.count) {
      case .bytes(let count): written += count
      case .endOfStream, .failed: return
      case .wouldBlock:
        let rest = end - BootClock.now
        guard rest > .zero else { return }
        var poll = PollSet(count: 1)
        poll.watch(0, stream.descriptor.number, writable: true)
        _ = try? poll.wait(atMost: rest)
      }
    }
  }
}
