import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct UnixSocketTests {
  let scratch = Scratch()
  var path: String { scratch.path + "/run/broker.sock" }

  func lock() throws -> FileLock { try FileLock(scratch.path + "/lock") }

  @Test func `a listening socket is private, in a directory that is made private`() throws {
    let lock = try lock()
    let listening = try UnixSocket.listen(at: path, holding: lock)
    #expect(try FileStatus.ofLink(path).permissions == 0o600)
    #expect(try FileStatus.ofLink(scratch.path + "/run").permissions == 0o700)
    let client = try UnixSocket.connect(to: path)
    #expect(try PeerCredentials(of: client).uid == geteuid())
    let areListening = (UnixSocket.isListening(listening.descriptor), UnixSocket.isListening(client))
    #expect(areListening == (true, false))
  }

  @Test(arguments: [0o720, 0o701, 0o777] as [mode_t])
  func `a directory that others may use is refused`(mode: mode_t) throws {
    let lock = try lock()
    #expect(mkdir(scratch.path + "/run", 0o700) == 0)
    #expect(chmod(scratch.path + "/run", mode) == 0)
    #expect(
      throws: UnixSocket.Refusal.directory(.openToOthers(scratch.path + "/run", permissions: UInt32(mode)))
    ) { try UnixSocket.listen(at: path, holding: lock).removePath() }
  }

  @Test func `a directory that is a symbolic link is refused`() throws {
    let lock = try lock()
    #expect(mkdir(scratch.path + "/elsewhere", 0o700) == 0)
    #expect(symlink(scratch.path + "/elsewhere", scratch.path + "/run") == 0)
    #expect(throws: UnixSocket.Refusal.directory(.notADirectory(scratch.path + "/run"))) {
      try UnixSocket.listen(at: path, holding: lock).removePath()
    }
  }

  @Test func `a directory below one that others may write to is refused`() throws {
    let lock = try lock()
    #expect(mkdir(scratch.path + "/open", 0o700) == 0)
    #expect(chmod(scratch.path + "/open", 0o777) == 0)
    #expect(throws: UnixSocket.Refusal.directory(.unsafeParent(scratch.path + "/open", .everyone))) {
      try UnixSocket.listen(at: scratch.path + "/open/run/s", holding: lock).removePath()
    }
  }

  @Test func `a file in the way is refused and left alone`() throws {
    let lock = try lock()
    #expect(mkdir(scratch.path + "/run", 0o700) == 0)
    try scratch.write("mine", to: "run/broker.sock")
    #expect(throws: UnixSocket.Refusal.occupied(path)) {
      try UnixSocket.listen(at: path, holding: lock).removePath()
    }
    #expect(try FileStatus.ofLink(path).kind == .regular)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a socket away"))
  func `a socket of another user is refused`() throws {
    let lock = try lock()
    do { _ = try UnixSocket.listen(at: path, holding: lock) }
    #expect(chown(path, 12345, 12345) == 0)
    #expect(throws: UnixSocket.Refusal.occupied(path)) {
      try UnixSocket.listen(at: path, holding: lock).removePath()
    }
  }

  @Test func `a dead socket is taken over and a living one is not`() throws {
    let lock = try lock()
    do { _ = try UnixSocket.listen(at: path, holding: lock) }
    #expect(try FileStatus.ofLink(path).kind == .socket)
    let listening = try UnixSocket.listen(at: path, holding: lock)
    #expect(throws: UnixSocket.Refusal.inUse(path)) {
      try UnixSocket.listen(at: path, holding: lock).removePath()
    }
    listening.removePath()
    #expect(throws: Errno.noEntry) { try FileStatus.ofLink(path) }
  }

  @Test func `only the own socket is removed at the end`() throws {
    let lock = try lock()
    let listening = try UnixSocket.listen(at: path, holding: lock)
    #expect(rename(path, path + ".old") == 0)
    try scratch.write("another", to: "run/broker.sock")
    listening.removePath()
    #expect(try FileStatus.ofLink(path).kind == .regular)
  }

  @Test(arguments: [107, 108, 200, 3000]) func `a path longer than an address is bound and reached`(_ count: Int) throws
  {
    let lock = try lock()
    var directory = scratch.path
    while count - directory.utf8.count > 200 {
      directory += "/" + String(repeating: "d", count: 99)
      #expect(mkdir(directory, 0o700) == 0)
    }
    directory += "/" + String(repeating: "e", count: count - directory.utf8.count - 3)
    let path = directory + "/s"
    #expect(path.utf8.count == count)
    let listening = try UnixSocket.listen(at: path, holding: lock)
    let client = try UnixSocket.connect(to: path)
    #expect(try PeerCredentials(of: client).pid == getpid())
    let isInPlace = listening.isInPlace
    #expect(isInPlace)
    listening.removePath()
    #expect(throws: Errno.noEntry) { try UnixSocket.connect(to: path).close() }
  }

  @Test func `a name that fits into no address is refused clearly`() throws {
    let lock = try lock()
    let path = scratch.path + "/" + String(repeating: "x", count: 110)
    #expect(throws: UnixSocket.Refusal.pathTooLong(path)) {
      try UnixSocket.listen(at: path, holding: lock).removePath()
    }
    #expect(throws: Errno.nameTooLong) { try UnixSocket.connect(to: path).close() }
  }
}
