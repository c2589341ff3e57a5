import CLinux

/// The words that this process was started with.
///
/// Swift's own list of them is made of `/proc/self/cmdline`, and Embedded Swift has none: they are read where the kernel has
/// put them, in front of the environment (System V ABI, AMD64 supplement, figure 3.9; as on all of Linux's processors).
package enum CommandLineWords {
  /// A word, without the terminating NUL; 0 is the name that the program was called by.
  ///
  /// Not after the environment of this process was changed by setenv(3).
  ///
  /// - Returns: nil behind the last one.
  package static func word(_ index: Int) -> [UInt8]? {
    // The list ends with NULL, and its entries are NUL-terminated and live as long as the process.
    guard let word = unsafe clinux_argument(index) else { return nil }
    // As above.
    let length = unsafe strlen(word)
    // As above: `length` bytes are before the NUL, and they are copied at once.
    return unsafe Array(UnsafeRawBufferPointer(start: word, count: length))
  }
}
