import LinuxSystem
import TestSupport
import Testing

/// Sockets that nobody outside this machine can reach.
@Suite(.standardTimeLimit) struct LoopbackSocketTests {
  @Test(arguments: [LoopbackSocket.Address.ipv4, .ipv6])
  func `a free port is found, and whoever connects to it is accepted`(_ address: LoopbackSocket.Address) throws {
    let listening: LoopbackSocket.Listening
    do throws(Errno) {
      listening = try LoopbackSocket.listen(on: address, port: 0)
    } catch {
      // A machine without IPv6 has no ::1.
      #expect(address == .ipv6 && error.name == "EADDRNOTAVAIL")
      return
    }
    #expect(listening.port > 0)
    let client = try LoopbackSocket.connect(to: address, port: UInt16(listening.port))
    let accepted = try UnixSocket.accept(from: listening.descriptor)
    let isAccepted = accepted != nil
    #expect(isAccepted)
    try client.sendAll(Array("x".utf8).span)
  }

  @Test func `a port that somebody listens on is taken`() throws {
    let first = try LoopbackSocket.listen(on: .ipv4, port: 0)
    #expect(throws: Errno.self) { _ = try LoopbackSocket.listen(on: .ipv4, port: UInt16(first.port)).port }
    #expect(first.port > 0)
  }

  @Test func `a port is free again when its socket is closed`() throws {
    let port = try LoopbackSocket.listen(on: .ipv4, port: 0).port
    let second = try LoopbackSocket.listen(on: .ipv4, port: UInt16(port))
    #expect(second.port == port)
  }
}
