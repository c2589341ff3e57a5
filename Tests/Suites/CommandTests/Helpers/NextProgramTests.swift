import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// The program that a helper stands in front of on the search path.
@Suite(.standardTimeLimit) struct NextProgramTests {
  private let scratch = Scratch()

  /// Makes a folder with a program of the name `keyring`; its path.
  private func folder(_ name: String, mode: UInt32 = 0o755) throws -> String {
    try #require(mkdir(scratch.file(name), 0o755) == 0)
    try scratch.write("#!/bin/sh\n", to: "\(name)/keyring")
    try #require(chmod(scratch.file("\(name)/keyring"), mode) == 0)
    return scratch.file(name)
  }

  private func next(_ path: String, itself: String) -> String? {
    NextProgram.path(of: "keyring", ["PATH": path], itself)
  }

  @Test func `the first other program is found, whatever stands before it`() throws {
    let (own, other, last) = (try folder("own"), try folder("other"), try folder("last"))
    let itself = own + "/keyring"
    #expect(next("\(own):\(other):\(last)", itself: itself) == other + "/keyring")
    #expect(next("\(last):\(own):\(other)", itself: itself) == last + "/keyring")
    #expect(next(own, itself: itself) == nil)
    #expect(next("", itself: itself) == nil)
  }

  @Test func `another name of this program is this program`() throws {
    let (own, link) = (try folder("own"), scratch.file("link"))
    try #require(mkdir(link, 0o755) == 0)
    try #require(symlink(own + "/keyring", link + "/keyring") == 0)
    let hard = scratch.file("hard")
    try #require(mkdir(hard, 0o755) == 0)
    try #require(Glibc.link(own + "/keyring", hard + "/keyring") == 0)
    #expect(next("\(link):\(hard):\(own)", itself: own + "/keyring") == nil)
  }

  @Test func `what is no program is passed over, and so are relative directories`() throws {
    let (own, plain, other) = (try folder("own"), try folder("plain", mode: 0o644), try folder("other"))
    let folder = scratch.file("folder")
    try #require(mkdir(folder, 0o755) == 0 && mkdir(folder + "/keyring", 0o755) == 0)
    let itself = own + "/keyring"
    #expect(next("\(plain):\(folder):/proc/nonexistent:\(other)", itself: itself) == other + "/keyring")
    #expect(next(".:other:..", itself: itself) == nil)
  }
}
