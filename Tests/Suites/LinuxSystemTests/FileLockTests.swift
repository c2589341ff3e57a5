import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite(.standardTimeLimit) struct FileLockTests {
  let scratch = Scratch()
  var path: String { scratch.path + "/lock" }

  /// Runs flock(1) on the lock file and returns its exit code: 0 if it got the lock.
  func otherProcessTries(_ waiting: [String] = ["-n"]) throws -> Int32 {
    let arguments = waiting + [path, "/bin/true"]
    return try ChildProcess(.init(path: "/usr/bin/flock", arguments: arguments, environment: [:])).wait()
  }

  @Test func `a lock keeps other processes out and ends with its value`() throws {
    do {
      let lock = try FileLock(path)
      #expect(lock.path == path)
      #expect(try FileStatus.ofLink(path).permissions == 0o600)
      #expect(try otherProcessTries() == 1)
      #expect(throws: FileLock.Refusal.held(path)) { _ = try FileLock(path) }
      #expect(throws: FileLock.Refusal.held(path)) { _ = try FileLock(path, waitingAtMost: .milliseconds(1)) }
    }
    // Other tests start programs at the same time, which hold all descriptors for the moment before they execute.
    #expect(try otherProcessTries(["-w", "\(Patience.ceiling.components.seconds)"]) == 0)
    #expect(try FileStatus.ofLink(path).kind == .regular)
  }

  @Test func `a lock that another process holds is got after its end`() throws {
    let ready = try FileDescriptor.pipe()
    let hold = try FileDescriptor.pipe()
    var plan = ChildProcess.Plan(
      path: "/usr/bin/flock", arguments: [path, "/bin/sh", "-c", "echo; read x"], environment: [:])
    plan.descriptors = [(hold.readEnd.number, 0), (ready.writeEnd.number, 1)]
    let child = try ChildProcess(plan)
    var byte: [UInt8] = [0]
    #expect(ready.readEnd.read(into: &byte) == .bytes(1))
    #expect(throws: FileLock.Refusal.held(path)) { _ = try FileLock(path) }
    #expect(hold.writeEnd.write([10], 0..<1) == .bytes(1))
    _ = try FileLock(path, waitingAtMost: Patience.ceiling)
    #expect(try child.wait() == 0)
  }

  @Test func `the lock of a file that was replaced before it was locked is none`() throws {
    var isReplaced = false
    let replace = {
      guard !isReplaced else { return }
      isReplaced = true
      #expect(rename(path, path + ".old") == 0)
    }
    #expect(throws: FileLock.Refusal.held(path)) {
      _ = try FileLock(path, waitingAtMost: nil, whenOpened: replace)
    }
    isReplaced = false
    _ = try FileLock(path)
    // One who waits takes the file that the path leads to by then.
    let lock = try FileLock(path, waitingAtMost: Patience.ceiling, whenOpened: replace)
    #expect(try FileStatus.ofLink(path).identity == lock.descriptor.status().identity)
    #expect(try otherProcessTries() == 1)
  }

  @Test func `what the file says is replaced as a whole`() throws {
    let lock = try FileLock(path)
    try lock.replaceContents(with: Array("a long first line\n".utf8))
    try lock.replaceContents(with: Array("short\n".utf8))
    #expect(try lock.contents(limit: 100) == Array("short\n".utf8))
    try lock.replaceContents(with: [])
    #expect(try lock.contents(limit: 100) == [])
  }

  @Test func `a symbolic link or a directory is no lock file`() throws {
    #expect(symlink("/etc/passwd", path) == 0)
    #expect(throws: FileLock.Refusal.notOurs(path)) { _ = try FileLock(path) }
    #expect(throws: FileLock.Refusal.failed(scratch.path, Errno(code: EISDIR))) { _ = try FileLock(scratch.path) }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can mount two file systems"))
  func `the holder of a file of the same number on another file system is not the holder`() throws {
    let (one, other) = (scratch.file("one"), scratch.file("other"))
    for path in [one, other] {
      mkdir(path, 0o700)
      guard mount("tmpfs", path, "tmpfs", 0, "size=64k") == 0 else { throw Errno(code: errno) }
    }
    defer { for path in [one, other] { umount2(path, Int32(MNT_DETACH)) } }
    let held = try FileLock(one + "/lock")
    let free = try FileLock(other + "/lock")
    // Both are the first files of their file systems.
    var numbers: [UInt64] = []
    for path in [held.path, free.path] {
      var status = stat()
      guard lstat(path, &status) == 0 else { throw Errno(code: errno) }
      numbers.append(UInt64(status.st_ino))
    }
    #expect(numbers[0] == numbers[1])
    let path = free.path
    _ = consume free
    #expect(FileLock.holder(of: held.path) == getpid())
    #expect(FileLock.holder(of: path) == nil)
  }
}
