import TestSupport
import Testing

@testable import LinuxSystem

/// The user at the other end of a loopback connection.
@Suite(.standardTimeLimit) struct LoopbackUserTests {
  private static let table = """
      sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
       0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
       1: 0100007F:A2C4 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 2 1 0 20 4 30 10 -1
       2: 0100007F:1F90 0100007F:A2C4 01 00000000:00000000 00:00000000 00000000  1000        0 3 1 0 20 4 30 10 -1
       3: 0100007F:A2C5 0100007F:1F90 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0

    """

  @Test func `the row of the client's end is found, and no other`() {
    let table = Array(Self.table.utf8)
    #expect(LoopbackSocket.users(in: table, local: 0xA2C4, remote: 0x1F90) == [1001])
    #expect(LoopbackSocket.users(in: table, local: 0x1F90, remote: 0xA2C4) == [1000])
    // One that waits for its end is nobody's.
    #expect(LoopbackSocket.users(in: table, local: 0xA2C5, remote: 0x1F90).isEmpty)
    #expect(LoopbackSocket.users(in: [], local: 1, remote: 2).isEmpty)
  }

  @Test func `a connection of this process is this user's`() throws {
    let socket = try LoopbackSocket.listen(on: .ipv4, port: 0)
    let client = try LoopbackSocket.connect(to: .ipv4, port: UInt16(socket.port))
    guard let accepted = try UnixSocket.accept(from: socket.descriptor) else { throw Errno.again }
    #expect(LoopbackSocket.user(connectedTo: accepted) == ProcessIdentity.user)
    #expect(LoopbackSocket.userInTables(connectedTo: accepted) == ProcessIdentity.user)
    withExtendedLifetime(client.number) {}
  }

  @Test(arguments: [LoopbackSocket.Address.ipv4, .ipv6])
  func `an end that sends nothing any more is held until its process closes it`(_ address: LoopbackSocket.Address)
    throws
  {
    guard let socket = try LoopbackSocket.listen(ifPresent: address, port: 0) else { return }
    let client = try LoopbackSocket.connect(to: address, port: UInt16(socket.port))
    guard let accepted = try UnixSocket.accept(from: socket.descriptor) else { throw Errno.again }
    try client.finishSending()
    let isHeld = LoopbackSocket.isHeld(byPeerOf: accepted)
    #expect(isHeld)
    #expect(LoopbackSocket.user(connectedTo: accepted) == ProcessIdentity.user)
    client.close()
    let isLeft = !LoopbackSocket.isHeld(byPeerOf: accepted)
    #expect(isLeft)
    #expect(LoopbackSocket.user(connectedTo: accepted) == nil)
  }
}
