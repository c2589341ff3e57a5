import Glibc
import LinuxSystem

/// One connection of a flood.
struct FloodClient {
  private let flood: Flood
  private let path: String
  private var descriptor: Int32 = -1
  private let first: Int
  private var number: Int
  private var pending: [UInt8] = []
  private var written = 0
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  /// How many messages of this connection are not answered yet.
  private var owed = 0
  /// How many messages have begun to go.
  private(set) var sent = 0
  /// How many lines have come.
  private(set) var answered = 0

  init(_ flood: Flood, _ path: String, first: Int) {
    self.flood = flood
    self.path = path
    self.first = first
    number = first
  }

  /// Does what can be done without waiting; false if there was nothing.
  mutating func step() -> Bool {
    guard descriptor >= 0 || connect() else { return false }
    var isBusy = false
    if flood.reads {
      isBusy = read()
      guard descriptor >= 0 else { return true }
    }
    if written == pending.count {
      guard owed == 0 || !flood.awaitsAnswers else { return isBusy }
      pending = flood.message(number)
      written = 0
      number += 1
    }
    return write() || isBusy
  }

  /// Reads what there is; closes the connection at its end.
  ///
  /// - Returns: false if there was nothing.
  private mutating func read() -> Bool {
    var isBusy = false
    let size = buffer.count
    while case let count = recv(descriptor, &buffer, size, Int32(MSG_DONTWAIT)), count != -1 {
      guard count > 0 else {
        end()
        return true
      }
      let lines = lineCount(count)
      answered += lines
      owed = max(0, owed - lines)
      isBusy = true
    }
    if errno != EAGAIN { end() }
    return isBusy
  }

  /// How many lines end in the first bytes of the buffer.
  private func lineCount(_ count: Int) -> Int {
    buffer.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return 0 }
      var (lines, position) = (0, 0)
      while position < count, let hit = memchr(start + position, Int32(UInt8(ascii: "\n")), count - position) {
        lines += 1
        position = UnsafeRawPointer(hit) - start + 1
      }
      return lines
    }
  }

  /// Writes what the kernel takes of the message; false where it takes nothing.
  private mutating func write() -> Bool {
    let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    let count = pending.withUnsafeBytes { bytes in
      send(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written, flags)
    }
    // A message of no bytes is none: then the connection only waits.
    guard count > 0 else {
      if count < 0, errno != EAGAIN { end() }
      return false
    }
    if written == 0 {
      sent += 1
      owed += 1
    }
    written += count
    if written == pending.count, flood.reconnects { end() }
    return true
  }

  private mutating func connect() -> Bool {
    guard let socket = try? UnixSocket.connect(to: path) else { return false }
    descriptor = socket.release()
    return true
  }

  /// Closes the connection; the next one begins with the first message.
  mutating func end() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
    (pending, written, number, owed) = ([], 0, first, 0)
  }
}
