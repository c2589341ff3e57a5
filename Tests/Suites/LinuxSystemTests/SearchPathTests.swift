import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Programs that are found by their names, and files behind links.
@Suite(.standardTimeLimit) struct SearchPathTests {
  private let scratch = Scratch()

  /// Makes a directory with a file of the name `tool`.
  private func directory(_ name: String, mode: UInt32) throws -> String {
    try #require(mkdir(scratch.file(name), 0o755) == 0)
    try scratch.write("", to: "\(name)/tool")
    try #require(chmod(scratch.file("\(name)/tool"), mode) == 0)
    return scratch.file(name)
  }

  @Test func `the first of the absolute directories counts, or the first that is wanted`() throws {
    let (plain, program) = (try directory("plain", mode: 0o644), try directory("program", mode: 0o755))
    let environment = ["PATH": "plain::.:\(plain):\(program)"]
    #expect(SearchPath.directories(environment) == [plain, program])
    #expect(SearchPath.program("tool", environment) == plain + "/tool")
    #expect(SearchPath.program("tool", environment, where: \.isProgram) == program + "/tool")
    #expect(SearchPath.program("other", environment) == nil)
    #expect(SearchPath.candidates("tool", environment) == [plain + "/tool", program + "/tool"])
  }

  @Test func `a name with a slash is a path, and only an absolute one`() {
    #expect(SearchPath.program("/proc/nonexistent/tool", [:]) == "/proc/nonexistent/tool")
    #expect(SearchPath.program("bin/tool", ["PATH": "/usr"]) == nil)
    #expect(SearchPath.candidates("bin/tool", ["PATH": "/usr"]).isEmpty)
    #expect(SearchPath.program("sh", [:]) != nil, "without PATH, the directories of every system")
    #expect(SearchPath.program("sh", ["PATH": ""]) == nil)
  }

  @Test func `links are followed to the end, and a circle has none`() throws {
    let directory = try directory("directory", mode: 0o644)
    try SymbolicLink.make(directory + "/relative", to: "../directory/tool")
    try SymbolicLink.make(scratch.file("first"), to: directory + "/relative")
    let end = try FileStatus.following(try SymbolicLink.resolved(scratch.file("first")))
    #expect(end.identity == (try FileStatus.ofLink(directory + "/tool")).identity)
    #expect(try SymbolicLink.resolved(directory + "/tool") == directory + "/tool")
    try SymbolicLink.make(scratch.file("nowhere"), to: "missing")
    #expect(try SymbolicLink.resolved(scratch.file("nowhere")) == scratch.file("missing"))
    try SymbolicLink.make(scratch.file("circle"), to: "circle")
    #expect(throws: Errno.symbolicLink) { try SymbolicLink.resolved(scratch.file("circle")) }
  }

  @Test func `a file is put into its place whole, with the permissions that it is to have`() throws {
    let bytes = Array("new".utf8)
    try scratch.write("old", to: "file")
    let pending = try PendingFile(scratch.file("file"), bytes.span, permissions: 0o640, mark: "new")
    let (identity, temporaryPath) = (pending.identity, pending.temporaryPath)
    #expect(temporaryPath == PendingFile.temporaryPath(of: scratch.file("file"), mark: "new"))
    try pending.put(replacing: true)
    let status = try FileStatus.ofLink(scratch.file("file"))
    #expect(status.identity == identity && status.permissions == 0o640)
    #expect(try scratch.bytes(of: "file") == bytes)
    #expect(scratch.names == ["file"])
  }

  @Test func `a temporary name cannot be guessed, and no link in its place is followed`() throws {
    let bytes = Array("new".utf8)
    var seen: Set<String> = []
    for _ in 0..<8 {
      let pending = try PendingFile(scratch.file("file"), bytes.span)
      let name = pending.temporaryPath.dropFirst(scratch.file(".file.").count)
      // 128 random bits.
      #expect(name.count == 32 && name.allSatisfy { $0.isHexDigit } && seen.insert(String(name)).inserted)
      #expect(pending.temporaryPath.hasPrefix(scratch.file(".file.")))
    }
    #expect(scratch.names.isEmpty)
    try scratch.write("mine", to: "victim")
    let place = PendingFile.temporaryPath(of: scratch.file("file"), mark: "new")
    for target in ["victim", "missing"] {
      try SymbolicLink.make(place, to: target)
      #expect(throws: Errno.exists) {
        try PendingFile(scratch.file("file"), bytes.span, mark: "new").put(replacing: true)
      }
      try DirectoryEntry.remove(place)
    }
    #expect(try scratch.names == ["victim"] && scratch.bytes(of: "victim") == Array("mine".utf8))
  }

  @Test func `a file that cannot be put into its place leaves nothing behind`() throws {
    try scratch.write("old", to: "file")
    let bytes = Array("new".utf8)
    #expect(throws: Errno.exists) { try PendingFile(scratch.file("file"), bytes.span).put(replacing: false) }
    #expect(throws: Errno.self) { try PendingFile(scratch.file("file/below"), bytes.span).put(replacing: true) }
    #expect(try scratch.names == ["file"] && scratch.bytes(of: "file") == Array("old".utf8))
  }
}
