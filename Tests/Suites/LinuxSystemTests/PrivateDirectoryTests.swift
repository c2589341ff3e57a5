import Glibc
import LinuxSystem
import TestSupport
import Testing

/// The way to a private directory, symbolic links and all.
@Suite(.standardTimeLimit) struct PrivateDirectoryTests {
  private func refusal(_ path: String, create: Bool = false) -> PrivateDirectory.Refusal? {
    do throws(PrivateDirectory.Refusal) {
      _ = try PrivateDirectory(path, create: create)
      return nil
    } catch { return error }
  }

  /// A sticky directory that everybody may write to, as `/tmp` is, in a scratch.
  private func makeShared(_ scratch: Scratch) throws -> String {
    let shared = scratch.file("shared")
    guard mkdir(shared, 0o700) == 0, chmod(shared, 0o1777) == 0 else { throw Errno(code: errno) }
    return shared
  }

  @Test func `links of this user are followed, absolute and relative`() throws {
    let scratch = Scratch()
    #expect(mkdir(scratch.file("real"), 0o700) == 0 && mkdir(scratch.file("real/below"), 0o700) == 0)
    #expect(symlink(scratch.file("real"), scratch.file("absolute")) == 0)
    #expect(symlink("absolute/below/../../real/./below", scratch.file("relative")) == 0)
    #expect(refusal(scratch.file("relative/state"), create: true) == nil)
    #expect(refusal(scratch.file("real/below/state")) == nil)
    #expect(symlink("loop", scratch.file("loop")) == 0)
    #expect(refusal(scratch.file("loop/state")) != nil)
    #expect(symlink("nowhere", scratch.file("dangling")) == 0)
    #expect(refusal(scratch.file("dangling/state")) != nil)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a link to another user"), arguments: [false, true])
  func `a link of another user in a sticky directory is not followed`(_ isHidden: Bool) throws {
    let scratch = Scratch()
    let shared = try makeShared(scratch)
    #expect(mkdir(scratch.file("real"), 0o700) == 0)
    #expect(symlink(scratch.file("real"), shared + "/link") == 0)
    #expect(refusal(shared + "/link/state", create: true) == nil)
    #expect(lchown(shared + "/link", 65_534, 65_534) == 0)
    var path = shared + "/link/state"
    if isHidden {
      // A link of one's own that leads through it.
      #expect(symlink(shared + "/link", scratch.file("own")) == 0)
      path = scratch.file("own/state")
    }
    #expect(refusal(path) == .unsafeParent(shared + "/link", .owner(65_534)))
  }

  @Test func `a directory that a link leads through is checked as well`() throws {
    let scratch = Scratch()
    #expect(mkdir(scratch.file("open"), 0o700) == 0 && mkdir(scratch.file("open/real"), 0o700) == 0)
    #expect(symlink(scratch.file("open/real"), scratch.file("link")) == 0)
    #expect(refusal(scratch.file("link/state"), create: true) == nil)
    #expect(chmod(scratch.file("open"), 0o777) == 0)
    #expect(refusal(scratch.file("link/state")) == .unsafeParent(scratch.file("open"), .everyone))
  }
}
