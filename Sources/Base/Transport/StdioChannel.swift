package import LinuxSystem

/// Standard input and output as a protocol's private stream.
///
/// The channel keeps its own duplicates. Descriptor 0 becomes `/dev/null` and descriptor 1 becomes standard error, so
/// that a stray `print` in some library reaches the log and cannot break a message, and a child that is started without
/// care cannot eat the peer's bytes. `InheritedStream` says how it is read and written without waiting and without
/// changing what other processes share; when the process ends, nothing has to be restored.
package struct StdioChannel: ~Copyable {
  /// The stream of the peer's bytes.
  package let input: InheritedStream
  /// The stream of bytes for the peer.
  package let output: InheritedStream

  /// Takes standard input and output over.
  ///
  /// To be done once, before anything reads or prints.
  ///
  /// - Throws: `EBADF` if one of them is closed.
  package static func takeOver() throws(Errno) -> StdioChannel {
    let input = FileDescriptor(owning: 0)
    let output = FileDescriptor(owning: 1)
    let errors = FileDescriptor(owning: 2)
    do throws(Errno) {
      let channel = StdioChannel(
        input: try InheritedStream(try input.duplicate(), .reading),
        output: try InheritedStream(try output.duplicate(), .writing))
      let null = try FileDescriptor.open("/dev/null", .readWrite)
      try null.replace(0)
      if (try? errors.replace(1)) == nil { try null.replace(1) }
      StdioChannel.keepOpen(input, output, errors)
      return channel
    } catch {
      StdioChannel.keepOpen(input, output, errors)
      throw error
    }
  }

  /// The numbers 0, 1 and 2 stay in use for the life of the process.
  private static func keepOpen(
    _ input: consuming FileDescriptor, _ output: consuming FileDescriptor, _ errors: consuming FileDescriptor
  ) {
    _ = input.release()
    _ = output.release()
    _ = errors.release()
  }
}
