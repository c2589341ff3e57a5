import LinuxSystem
import SecretMemory

/// A server on 127.0.0.1 that one run of a tool talks to; it lives in the loop that waits for the tool.
struct ProbeServer: ~Copyable {
  /// A tool that opens more at once is not answered any more.
  private static let mostConnections = 16

  private let listener: LoopbackSocket.Listening
  private let fresh: ProbeConversation
  // By descriptor, which is closed when its conversation is over, or the server ends.
  private var streams: [Int32: ProbeConversation] = [:]

  /// What was seen on connections that are over.
  private(set) var sawToken = false
  /// Whether any of them began with TLS.
  private(set) var sawTLS = false

  /// Listens on a free port.
  ///
  /// - Parameter conversation: what every connection begins with.
  /// - Throws: what bind(2) says.
  init(_ conversation: ProbeConversation) throws(Errno) {
    listener = try LoopbackSocket.listen(on: .ipv4, port: 0)
    fresh = conversation
  }

  deinit { for number in streams.keys { FileDescriptor(owning: number).close() } }

  /// Closes every connection and wipes what came on it.
  ///
  /// Not left to `deinit`, which has copies of the conversations alone.
  mutating func end() {
    while let number = streams.keys.first {
      var conversation = streams.removeValue(forKey: number)
      FileDescriptor(owning: number).close()
      conversation?.end()
    }
  }

  /// Where it listens.
  var port: Int { listener.port }

  /// What is waited for: the listener and every connection.
  var numbers: [Int32] {
    (streams.count < Self.mostConnections ? [listener.descriptor.number] : []) + streams.keys
  }

  /// Does what is to be done for a descriptor that is ready.
  mutating func serve(_ number: Int32) {
    if number == listener.descriptor.number { accept() } else { read(number) }
  }

  private mutating func accept() {
    guard let stream = try? UnixSocket.accept(from: listener.descriptor) else { return }
    let isOpen = fresh.greeting.isEmpty || (try? stream.sendAll(fresh.greeting.span)) != nil
    guard isOpen else { return }
    streams[stream.release()] = fresh
  }

  private mutating func read(_ number: Int32) {
    guard var conversation = streams.removeValue(forKey: number) else { return }
    let stream = FileDescriptor(owning: number)
    var chunk = [UInt8](repeating: 0, count: 16384)
    defer { wipe(&chunk) }
    let result = stream.read(into: &chunk)
    var isOver = true
    switch result {
    case .bytes(let count):
      let answer = conversation.received(chunk[..<count])
      let isSent = answer.bytes.isEmpty || (try? stream.sendAll(answer.bytes.span)) != nil
      isOver = answer.closes || !isSent
    case .wouldBlock: isOver = false
    case .endOfStream, .failed: break
    }
    sawToken = sawToken || conversation.sawToken
    sawTLS = sawTLS || conversation.sawTLS
    guard isOver else {
      streams[stream.release()] = conversation
      return
    }
    conversation.end()
  }
}
