import CLinux

/// The kernel's random numbers (random(7)).
package enum KernelRandom {
  /// A name that no other process can guess: 128 random bits as 32 hexadecimal digits.
  ///
  /// - Throws: what getrandom(2) says.
  package static func name() throws(Errno) -> String {
    var bytes = [UInt8](repeating: 0, count: 16)
    // The pointer is used inside the closure only.
    let result = unsafe bytes.withUnsafeMutableBytes { bytes in
      // The kernel writes at most as many bytes as the buffer has, and is asked for no more than it gives in one piece.
      unsafe clinux_random(bytes.baseAddress, bytes.count)
    }
    guard result == bytes.count else { throw Errno(code: Int32(truncatingIfNeeded: result < 0 ? -result : 0)) }
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
