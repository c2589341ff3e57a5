import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

/// Nobody sets the clock of a machine for a test: what the kernel would say then is played.
@Suite(.standardTimeLimit) struct ClockWatchTests {
  @Test func `a clock that nobody sets is quiet`() throws {
    let watch = try ClockWatch()
    #expect(watch.look() == .quiet)
    #expect(watch.look() == .quiet)
  }

  @Test(
    arguments: [
      (-Int64(ECANCELED), .wasSet), (8, .wasSet), (-Int64(EAGAIN), .quiet),
      (-Int64(EBADF), .failed(Errno(code: EBADF))), (.min, .failed(Errno(code: 0))),
    ] as [(Int64, ClockWatch.Finding)])
  func `a read that is called off tells that the clock was set`(_ result: Int64, _ finding: ClockWatch.Finding) {
    #expect(ClockWatch.Finding(reading: result) == finding)
  }
}
