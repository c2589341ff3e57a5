import CLinux

/// Zeroes an array in place, in a way that the optimiser may not remove (explicit_bzero(3)).
///
/// Only this array's own storage is wiped: where the storage is shared with another array, that one keeps its bytes. So
/// a buffer that holds a secret must have one owner.
///
/// - Parameter bytes: keeps its count; every byte is 0 afterwards.
public func wipe(_ bytes: inout [UInt8]) {
  // The storage of all empty arrays is one and the same, so that lending it for writing allocates another one.
  guard !bytes.isEmpty else { return }
  // The pointer and the length come from the same buffer, which lives until the closure returns.
  unsafe bytes.withUnsafeMutableBytes { buffer in
    // As above.
    if let start = buffer.baseAddress { unsafe clinux_wipe(start, buffer.count) }
  }
}

/// Zeroes a part of an array in place, as ``wipe(_:)`` does the whole.
public func wipe(_ bytes: inout [UInt8], _ range: Range<Int>) {
  precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "a range outside the array")
  guard !range.isEmpty else { return }
  // The range was checked above, and the storage lives until the closure returns.
  unsafe bytes.withUnsafeMutableBytes { buffer in
    // As above.
    if let start = buffer.baseAddress { unsafe clinux_wipe(start + range.lowerBound, range.count) }
  }
}

/// Zeroes memory that no array holds, as ``wipe(_:)`` does.
package func wipe(_ buffer: UnsafeMutableRawBufferPointer) {
  // The pointer and the length come from the same buffer, which is the caller's.
  if let start = buffer.baseAddress { unsafe explicit_bzero(start, buffer.count) }
}
