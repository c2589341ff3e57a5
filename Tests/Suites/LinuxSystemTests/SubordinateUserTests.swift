import LinuxSystem
import TestSupport
import Testing

/// The lines of subuid(5).
@Suite(.standardTimeLimit) struct SubordinateUserTests {
  @Test func `a user has the ranges of its name and of its number, and lines that are none are left out`() {
    let text = "ann:100000:65536\nbob:200000:10\n1000:300000:1\nann:x:1\nann:4294967295:2\nann:5:0\nann:7\n:9:9\n"
    #expect(SubordinateUsers.ranges(of: 1000, named: "ann", in: text) == [100_000...165_535, 300_000...300_000])
    #expect(SubordinateUsers.ranges(of: 1000, named: nil, in: text) == [300_000...300_000])
    #expect(SubordinateUsers.ranges(of: 1001, named: nil, in: text).isEmpty)
  }
}
