import JSON
import LinuxSystem
import SecretMemory

/// The lines that a tool writes to the standard input of its helper; they may hold secrets, and the caller wipes them.
struct ToolLines: ~Copyable {
  /// More than any tool writes: above it, the input is refused.
  static let longest = 1 << 20

  /// How much is read at first, which is more than a tool's usual question; later as much as has come before.
  private static let firstLength = 1 << 10

  /// The bytes that have been read and not been taken yet.
  private var buffer: [UInt8] = []
  private var isAtEnd = false

  deinit { Self.erase(buffer) }

  /// Everything up to the end of the input.
  ///
  /// - Throws: a failure where it is longer than ``longest``.
  static func all() throws(CommandFailure) -> [UInt8] {
    var input = ToolLines()
    return try input.take { _ in nil } ?? []
  }

  /// The next line, without its end; nil at the end of the input.
  ///
  /// - Throws: a failure where it is longer than ``longest``.
  mutating func line() throws(CommandFailure) -> [UInt8]? {
    var line = try take { bytes in bytes.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } }
    if line?.last == UInt8(ascii: "\n") { line?.removeLast() }
    return line
  }

  /// The beginning of the input, as far as the caller says; all of it where the input ends before.
  ///
  /// - Parameter length: how many of the bytes so far are wanted; nil where more must come first.
  /// - Returns: those bytes; nil where the input has ended and nothing is left.
  /// - Throws: a failure where they would be more than ``longest``.
  mutating func take(_ length: ([UInt8]) -> Int?) throws(CommandFailure) -> [UInt8]? {
    var wanted = length(buffer)
    while wanted == nil, !isAtEnd {
      try fill()
      wanted = length(buffer)
    }
    guard !buffer.isEmpty else { return nil }
    let taken = Array(buffer.prefix(wanted ?? buffer.count))
    let rest = Array(buffer.dropFirst(taken.count))
    wipe(&buffer)
    buffer = rest
    return taken
  }

  private mutating func fill() throws(CommandFailure) {
    var chunk = [UInt8](repeating: 0, count: max(Self.firstLength, buffer.count))
    defer { wipe(&chunk) }
    let stream = FileDescriptor(owning: 0)
    let result = stream.read(into: &chunk)
    // The stream belongs to the process, not to this value.
    _ = stream.release()
    guard case .bytes(let count) = result, count > 0 else {
      isAtEnd = true
      return
    }
    guard buffer.count + count <= Self.longest else {
      throw CommandFailure(.failure, "the input is longer than \(Self.longest / 1024) KiB; nothing was done")
    }
    var grown: [UInt8] = []
    grown.reserveCapacity(buffer.count + count)
    grown.append(copying: buffer.span)
    grown.append(copying: chunk.span.extracting(..<count))
    wipe(&buffer)
    buffer = grown
  }

  private static func erase(_ bytes: consuming [UInt8]) {
    var bytes = bytes
    wipe(&bytes)
  }
}
