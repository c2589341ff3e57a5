import ClientSocket
import Glibc
import LinuxSystem
import StateDirectory
import TestSupport
import Testing

/// What a client creates for a broker that asks it for a file: nothing, unless that broker owns the client's own state
/// directory.
@Suite(.standardTimeLimit) struct StateProofFileTests {
  private static let name = "proof-" + String(repeating: "0f", count: 16)

  /// A state directory whose owner is this process, on one end of a pair of sockets.
  private final class Stage {
    let scratch = Scratch()
    private var lock: FileLock?
    let socket: FileDescriptor

    init(recording pid: Int32 = ProcessIdentity.pid) throws {
      let record = OwnerRecord(
        pid: pid, version: "test", configuration: nil, socket: scratch.file("s"), startedAt: "2026-01-01T00:00:00Z")
      socket = try UnixSocket.pair().first.duplicate()
      let lock = try FileLock(scratch.file("broker.lock"))
      try lock.replaceContents(with: record.encoded())
      self.lock = consume lock
    }

    /// The owner ends; its record stays.
    func end() { lock = nil }

    func file(_ path: String? = nil, in state: String? = nil) throws(StateProofFile.Refusal) -> StateProofFile {
      try StateProofFile(
        asked: path ?? scratch.file(StateProofFileTests.name), in: state ?? scratch.path, for: socket)
    }

    var names: [String] { scratch.names.filter { $0 != "broker.lock" } }
  }

  private static func refusal(_ body: () throws(StateProofFile.Refusal) -> Void) -> StateProofFile.Refusal? {
    do throws(StateProofFile.Refusal) {
      try body()
      return nil
    } catch { return error }
  }

  @Test func `the file is created once, empty and for its owner alone, and removed`() throws {
    let stage = try Stage()
    let file = try stage.file()
    let own = "\(Self.name).\(ProcessIdentity.pid)"
    #expect(try file.create())
    #expect(stage.names == [own])
    #expect(try stage.scratch.bytes(of: own).isEmpty)
    #expect(stage.scratch.mode(own) == 0o600)
    #expect(try !file.create())
    file.remove()
    #expect(stage.names.isEmpty)
  }

  @Test func `the state directory may have another name`() throws {
    let stage = try Stage()
    let elsewhere = Scratch()
    symlink(stage.scratch.path, elsewhere.file("link"))
    let file = try stage.file(elsewhere.file("link") + "/" + Self.name)
    #expect(file.path == stage.scratch.file("\(Self.name).\(ProcessIdentity.pid)"))
  }

  @Test(arguments: [
    "/\(name)", "STATE/../\(name)", "STATE/x/\(name)", "STATE/./\(name)", "STATE//\(name)", "\(name)", "STATE/",
  ])
  func `a path elsewhere gets nothing`(_ pattern: String) throws {
    let stage = try Stage()
    let state = stage.scratch.path
    let path = pattern.hasPrefix("STATE") ? state + pattern.dropFirst(5) : pattern
    let refusal = Self.refusal { () throws(StateProofFile.Refusal) in _ = try stage.file(path) }
    guard case .otherDirectory? = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    #expect(stage.names.isEmpty)
  }

  @Test func `a peer that is not the recorded owner gets nothing`() throws {
    let stage = try Stage(recording: ProcessIdentity.parent)
    let refusal = Self.refusal { () throws(StateProofFile.Refusal) in _ = try stage.file() }
    #expect(refusal == .notOwner(peer: ProcessIdentity.pid, state: stage.scratch.path))
    #expect(refusal?.description.contains("nothing was created") == true)
  }

  @Test func `a record without a lock is that of an owner that has ended`() throws {
    let stage = try Stage()
    stage.end()
    let refusal = Self.refusal { () throws(StateProofFile.Refusal) in _ = try stage.file() }
    #expect(refusal == .notOwner(peer: ProcessIdentity.pid, state: stage.scratch.path))
  }

  @Test func `a client without a state directory creates nothing`() throws {
    let stage = try Stage()
    let refusal = Self.refusal { () throws(StateProofFile.Refusal) in
      _ = try StateProofFile(asked: stage.scratch.file(Self.name), in: nil, for: stage.socket)
    }
    #expect(refusal == .otherDirectory(asked: stage.scratch.path, own: nil))
  }

  @Test func `a broker of an earlier version is to be stopped`() throws {
    let stage = try Stage()
    let path = stage.scratch.file("prove-" + String(repeating: "0f", count: 16))
    let refusal = Self.refusal { () throws(StateProofFile.Refusal) in _ = try stage.file(path) }
    #expect(refusal == .earlierBroker && refusal?.description.hasSuffix("of an earlier version") == true)
  }

  @Test func `a directory that is open to others gets no file`() throws {
    let stage = try Stage()
    let file = try stage.file()
    chmod(stage.scratch.path, 0o755)
    guard case .directory? = Self.refusal({ () throws(StateProofFile.Refusal) in _ = try file.create() }) else {
      Issue.record("it was created")
      return
    }
    #expect(stage.names.isEmpty)
  }

  @Test func `a link in its place is not followed`() throws {
    let stage = try Stage()
    let file = try stage.file()
    symlink(stage.scratch.file("target"), file.path)
    #expect(try !file.create())
    #expect(stage.names.count == 1)
  }

  @Test(arguments: [Errno.noSpace, .quotaExceeded])
  func `a file system without an inode is named`(_ error: Errno) {
    let refusal = StateProofFile.Refusal.failed(directory: "/state", error)
    #expect(refusal.description.contains("no inode left"))
  }
}
