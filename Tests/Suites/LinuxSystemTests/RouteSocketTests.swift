import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite(.standardTimeLimit) struct RouteSocketTests {
  /// A request for every link of the machine, which any user may make: the kernel answers as it tells of changes.
  static let dumpOfLinks: [UInt8] = [20, 0, 0, 0, 18, 0, 1, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

  private func tell(_ datagram: [UInt8]) -> Bool { RouteMessages.tellOfChange(datagram.span) }

  @Test func `what the kernel tells of a link is a change, and then there is nothing more`() throws {
    let socket = try RouteSocket()
    // Other tests may change links meanwhile, and so may the machine: only what is asked for is certain.
    _ = try socket.hasChanged()
    #expect(socket.descriptor.send(Self.dumpOfLinks, 0..<Self.dumpOfLinks.count) == .bytes(20))
    #expect(try socket.hasChanged())
  }

  /// As `unshare -n` and `ip link set lo up` made them: an address that has come, a route, a link; heads only.
  private static let recorded: [[UInt8]] = [
    [76, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [60, 0, 0, 0, 24, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0],
    [188, 5, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  ]

  @Test(arguments: recorded)
  func `links, addresses and routes are changes, wherever they stand`(_ head: [UInt8]) {
    let message = head + [UInt8](repeating: 0, count: Int(head[0]) + Int(head[1]) << 8 - 16)
    #expect(tell(message))
    // Behind the end of a dump (NLMSG_DONE), and behind a message whose length is padded.
    let done: [UInt8] = [20, 0, 0, 0, 3, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    #expect(tell(done + message))
    let padded: [UInt8] = [17, 0, 0, 0, 3, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0]
    #expect(tell(padded + message))
    #expect(!tell(done))
  }

  @Test func `a length that cannot be ends the reading, and nothing traps`() {
    var generator = SystemRandomNumberGenerator()
    for length: UInt8 in 0...15 {
      let broken = [length, 0, 0, 0, 3, 0] + [UInt8](repeating: 0, count: 10)
      #expect(!tell(broken + Self.recorded[0]))
    }
    let tooLong: [UInt8] = [255, 255, 255, 255, 3, 0] + [UInt8](repeating: 0, count: 10)
    #expect(!tell(tooLong + Self.recorded[0]))
    for count in 0..<200 {
      let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      _ = tell(noise)
    }
  }
}
