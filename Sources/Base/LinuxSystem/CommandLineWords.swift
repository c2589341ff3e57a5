import CLinux

/// The words that this process was started with.
///
/// Swift's own list of them is made of `/proc/self/cmdline`, and Embedded Swift has none: they are read where the kernel has
/// put them, in front of the environment (System V ABI, AMD64 supplement, figure 3.9; as on all of Linux's processors).
package enum CommandLineWords {
  /// All words, without the terminating NUL; the first is the name that the program was called by.
  ///
  /// Not after the environment of this process was changed by setenv(3).
  package static var all: [[UInt8]] {
    let count = clinux_argument_count()
    return (0..<count).map { index in
      // The list has `count` entries, which are NUL-terminated and live as long as the process.
      guard let word = unsafe clinux_argument(index, count) else { return [] }
      // As above: so many bytes are before the NUL, and they are copied at once.
      return unsafe Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
    }
  }
}
