import CLinux

/// The words that this process was started with.
///
/// Swift's own list of them is made of `/proc/self/cmdline`, and Embedded Swift has none: they are read where the kernel has
/// put them, in front of the environment (System V ABI, AMD64 supplement, figure 3.9; as on all of Linux's processors).
package enum CommandLineWords {
  /// The kernel starts no program with more bytes of words and variables (execve(2): three quarters of 8 MiB).
  private static let byteLimit = 6 << 20

  /// All words, without the terminating NUL; the first is the name that the program was called by.
  ///
  /// Empty where they cannot be known, which no program may take for an empty line.
  /// A library of `LD_PRELOAD` may have changed the environment by setenv(3), which moves it: then they are read from
  /// `/proc/self/cmdline` (proc(5)).
  package static var all: [[UInt8]] {
    let count = clinux_argument_count()
    guard count > 0 else { return told }
    return (0..<count).map { index in
      // The list has `count` entries, which are NUL-terminated and live as long as the process.
      guard let word = unsafe clinux_argument(index, count) else { return [] }
      // As above: so many bytes are before the NUL, and they are copied at once.
      return unsafe Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
    }
  }

  private static var told: [[UInt8]] {
    let bytes = (try? FileDescriptor.open("/proc/self/cmdline", .read).contents(limit: byteLimit)) ?? []
    return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Array($0) }
  }
}
