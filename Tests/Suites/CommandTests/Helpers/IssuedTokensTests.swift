import BrokerProtocol
import LinuxSystem
import StateDirectory
import TestSupport
import Testing

@testable import authbroker

/// What a helper remembers of the process that runs it.
@Suite(.standardTimeLimit) struct IssuedTokensTests {
  private let scratch = Scratch()
  private let now = Timestamp(milliseconds: 1_800_000_000_000)

  private func paths() throws -> StatePaths {
    try StatePaths(
      StatePaths.Options(state: scratch.file("state")), environment: ["HOME": scratch.file("home")],
      workingDirectory: "/")
  }

  private func memory(_ purpose: String = "a") throws -> IssuedTokens? {
    IssuedTokens("kubectl", for: purpose, in: try paths())
  }

  private func names() throws -> [String] { try TemporaryDirectory.names(in: try paths().helpers) }

  @Test func `the same process is known for the same purpose, until the token expires`() throws {
    let entry = IssuedTokens.Entry(tokenID: "k3v9", expiresAt: now + .seconds(60))
    try memory()?.remember(entry, at: now)
    #expect(try memory()?.entry(at: now) == entry)
    #expect(try memory("b")?.entry(at: now) == nil)
    #expect(try memory()?.entry(at: now + .seconds(60)) == nil)
    let endless = IssuedTokens.Entry(tokenID: "k3v9", expiresAt: nil, replacedAt: now)
    try memory()?.remember(endless, at: now)
    #expect(try memory()?.entry(at: now + .seconds(86400)) == endless)
    let status = try FileStatus.ofLink(try paths().helpers + "/" + (try #require(try names().first)))
    #expect(status.permissions == 0o600)
  }

  @Test func `files of processes that have ended are removed once there are many, and others are left alone`() throws {
    try memory()?.remember(.init(tokenID: "k3v9"), at: now)
    let directory = try PrivateDirectory(try paths().helpers, create: true)
    let own = ProcessIdentity.pid
    let start = try #require(ProcessIdentity.startTime(of: own))
    let live = "kubectl-\(own)-\(start)-a"
    for name in ["kubectl-\(own)-\(start &+ 1)-a", "kubectl-0-1-a", "kubectl-x", "other-1-1-a", live] {
      try directory.writeFile(name, Array("x".utf8).span)
    }
    try memory()?.remember(.init(tokenID: "k3v9"), at: now)
    #expect(try names().count == 6)
    for index in 6..<IssuedTokens.sweptFiles {
      try directory.writeFile("kubectl-0-\(index)-a", Array("x".utf8).span)
    }
    try memory()?.remember(.init(tokenID: "k3v9"), at: now)
    let left = try names()
    #expect(left.contains("other-1-1-a") && left.contains(live) && left.count == 3, "\(left)")
  }

  @Test func `there is a bound for what is remembered`() throws {
    let directory = try PrivateDirectory(try paths().helpers, create: true)
    let start = try #require(ProcessIdentity.startTime(of: ProcessIdentity.pid))
    for index in 0..<IssuedTokens.mostFiles {
      try directory.writeFile("kubectl-\(ProcessIdentity.pid)-\(start)-\(index)", Array("x".utf8).span)
    }
    try memory()?.remember(.init(tokenID: "k3v9"), at: now)
    #expect(try names().count == IssuedTokens.mostFiles)
    #expect(try memory()?.entry(at: now) == nil)
  }

  @Test func `tokens that have expired make room for others of a process that goes on`() throws {
    let directory = try PrivateDirectory(try paths().helpers, create: true)
    let start = try #require(ProcessIdentity.startTime(of: ProcessIdentity.pid))
    let (expired, valid) = (now + .seconds(-1), now + .seconds(1))
    for index in 0..<IssuedTokens.mostFiles {
      let entry = IssuedTokens.Entry(tokenID: "k3v9", expiresAt: index == 0 ? valid : expired)
      try directory.writeFile("kubectl-\(ProcessIdentity.pid)-\(start)-\(index)", entry.bytes.span)
    }
    try memory()?.remember(.init(tokenID: "k3v9", expiresAt: valid), at: now)
    #expect(try names().count == 2)
    #expect(try memory()?.entry(at: now) != nil)
  }

  @Test(arguments: ["", "\n", "a\n", "a - -", "a b -\n", "a - b\n", " - -\n", "a - - -\n"])
  func `what this program did not write is nothing`(text: String) {
    #expect(IssuedTokens.Entry(Array(text.utf8)) == nil)
  }

  @Test func `a token that replaced another one a moment ago is not replaced again`() {
    var entry = IssuedTokens.Entry(tokenID: "k3v9")
    #expect(entry.wantsAnother(at: now))
    entry.replacedAt = now
    #expect(!entry.wantsAnother(at: now) && !entry.wantsAnother(at: now + .seconds(59)))
    #expect(entry.wantsAnother(at: now + .seconds(60)))
    entry.replacedAt = now + .seconds(1)
    #expect(entry.wantsAnother(at: now), "the clock was set back")
    #expect(IssuedTokens.Entry(entry.bytes) == entry)
  }

  @Test func `a process has one start, and one that is not there has none`() throws {
    let own = try #require(ProcessIdentity.startTime(of: ProcessIdentity.pid))
    #expect(own == ProcessIdentity.startTime(of: ProcessIdentity.pid) && own > 0)
    #expect(ProcessIdentity.startTime(of: -1) == nil)
    #expect(ProcessIdentity.parent > 0)
  }
}
