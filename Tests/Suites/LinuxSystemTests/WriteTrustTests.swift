import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

/// Who can really write to a file or a directory.
@Suite(.standardTimeLimit) struct WriteTrustTests {
  private static let passwd = """
    root:x:0:0:root:/root:/bin/bash
    daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
    ada:x:1001:1001::/home/ada:/bin/sh
    ada2:x:1001:1001::/home/ada:/bin/sh
    bob:x:1002:1002::/home/bob:/bin/sh
    eve:x:1003:100::/home/eve:/bin/sh
    """
  private static let group = """
    root:x:0:
    users:x:100:ada
    staff:x:50:ada,bob
    ada:x:1001:
    bob:x:1002:ada
    own:x:60:ada,ada2,root
    ghosts:x:70:ada,from-a-directory
    not a line
    """

  /// What is said of a directory of an owner, a group and a mode, where ada's process is in some groups.
  private static func objection(
    owner: UInt32 = 0, group: UInt32, _ mode: mode_t, in groups: [UInt32] = [], user: UInt32 = 1001,
    trusting trusted: String? = nil
  ) throws -> WriteTrust.Objection? {
    let scratch = Scratch()
    chown(scratch.path, owner, group)
    chmod(scratch.path, mode)
    let trust = WriteTrust(
      user: user, trusted: trusted, isMember: { groups.contains($0) },
      accounts: { AccountFiles(passwd: passwd, group: Self.group) })
    return trust.objection(to: scratch.path, try FileStatus.ofLink(scratch.path))
  }

  private static let isRoot = ConditionTrait.enabled(if: geteuid() == 0, "only root can give a file to another user")

  @Test(isRoot) func `a group may write whose only member is this user`() throws {
    #expect(try Self.objection(owner: 1001, group: 1001, 0o775, in: [1001]) == nil)
    #expect(try Self.objection(group: 60, 0o2775, in: [60]) == nil)
    // Its primary group by its number alone.
    #expect(try Self.objection(owner: 1001, group: 1001, 0o770) == nil)
  }

  @Test(isRoot) func `a group with another member may not, whichever file names that one`() throws {
    #expect(try Self.objection(group: 50, 0o770, in: [50]) == .group("staff", members: ["bob"]))
    #expect(try Self.objection(group: 100, 0o770, in: [100]) == .group("users", members: ["eve"]))
    #expect(try Self.objection(group: 1002, 0o770, in: [1002]) == .group("bob", members: ["bob"]))
    #expect(try Self.objection(group: 70, 0o770, in: [70]) == .group("ghosts", members: ["from-a-directory"]))
  }

  @Test(isRoot) func `a group without an entry has no members but those that are in it`() throws {
    #expect(try Self.objection(group: 2000, 0o2775, in: [2000]) == nil)
    #expect(try Self.objection(group: 2000, 0o2775) == .group("2000", members: []))
    // A container whose user has a number of its own, and the group of root.
    #expect(try Self.objection(group: 0, 0o775, in: [0], user: 1_000_680_000) == nil)
  }

  @Test(isRoot, arguments: ["staff", "50", "users,staff"]) func `a group that is trusted may write`(
    _ trusted: String
  ) throws {
    #expect(try Self.objection(group: 50, 0o770, trusting: trusted) == nil)
    #expect(try Self.objection(group: 70, 0o770, in: [70], trusting: trusted) != nil)
  }

  @Test(isRoot) func `an owner with an entry is another user, and one without is whoever made the image`() throws {
    #expect(try Self.objection(owner: 1002, group: 0, 0o755) == .owner(1002))
    #expect(try Self.objection(owner: 4711, group: 0, 0o755) == nil)
    #expect(try Self.objection(owner: 4711, group: 0, 0o757) == .everyone)
  }

  @Test(isRoot) func `everyone may write only where entries are their owners'`() throws {
    #expect(try Self.objection(owner: 1001, group: 1001, 0o757) == .everyone)
    #expect(try Self.objection(group: 50, 0o1777) == nil)
  }

  @Test func `where users are not known, no group is trusted`() throws {
    let scratch = Scratch()
    chown(scratch.path, geteuid(), 54321)
    chmod(scratch.path, 0o770)
    let trust = WriteTrust(user: geteuid(), trusted: "50", isMember: { _ in true }, accounts: { nil })
    let objection = trust.objection(to: scratch.path, try FileStatus.ofLink(scratch.path))
    #expect(objection == .group("\(try FileStatus.ofLink(scratch.path).group)", members: []))
  }
}
