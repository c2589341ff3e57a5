import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Which files only this user and root can change.
@Suite(.standardTimeLimit) struct TrustedFileTests {
  private static let isRoot = geteuid() == 0

  /// `outer/inner/file`, for its owner alone.
  private static func tree() throws -> Scratch {
    let scratch = Scratch()
    mkdir(scratch.file("outer"), 0o700)
    mkdir(scratch.file("outer/inner"), 0o755)
    try scratch.write("text", to: "outer/inner/file")
    return scratch
  }

  private static func refusal(_ path: String) -> TrustedFile.Refusal? {
    do throws(TrustedFile.Refusal) { try TrustedFile.check(path) } catch { return error }
    return nil
  }

  @Test func `a file of this user's in a directory of this user's is read, below a sticky one too`() throws {
    let scratch = try Self.tree()
    chmod(scratch.file("outer/inner/file"), 0o644)
    let file = try TrustedFile.open(scratch.file("outer/./inner/../inner/file"))
    #expect(try file.contents(limit: 100) == Array("text".utf8))
    chmod(scratch.file("outer"), 0o1777)
    #expect(Self.refusal(scratch.file("outer/inner/file")) == nil)
  }

  @Test(arguments: [
    ("outer/inner/file", mode_t(0o666)), ("outer/inner/file", 0o602), ("outer/inner", 0o777), ("outer", 0o702),
  ])
  func `what everyone can write to is refused, by its name and with what to do`(
    _ place: String, _ mode: mode_t
  ) throws {
    let scratch = try Self.tree()
    chmod(scratch.file(place), mode)
    let refusal = try #require(Self.refusal(scratch.file("outer/inner/file")))
    #expect(refusal == .changeable(scratch.file(place), .everyone))
    #expect(refusal.description.hasSuffix("; run: chmod o-w \(scratch.file(place))"))
  }

  @Test(
    .enabled(if: isRoot),
    arguments: [("outer/inner/file", mode_t(0o620)), ("outer/inner", 0o770), ("outer", 0o2775)])
  func `what a group of others can write to is refused, by its name and with what to do`(
    _ place: String, _ mode: mode_t
  ) throws {
    let scratch = try Self.tree()
    chown(scratch.file(place), 0, 54321)
    chmod(scratch.file(place), mode)
    let refusal = try #require(Self.refusal(scratch.file("outer/inner/file")))
    #expect(refusal == .changeable(scratch.file(place), .group("54321", members: [])))
    #expect(refusal.description.contains("; run: chmod g-w \(scratch.file(place)), or trust"))
  }

  @Test(.enabled(if: isRoot), arguments: ["outer/inner/file", "outer/inner", "outer"])
  func `what belongs to another user is refused`(_ place: String) throws {
    let scratch = try Self.tree()
    chown(scratch.file(place), 1, 0)
    #expect(Self.refusal(scratch.file("outer/inner/file")) == .changeable(scratch.file(place), .owner(1)))
  }

  @Test func `a link is followed, and what it leads through is checked`() throws {
    let scratch = try Self.tree()
    symlink("outer/inner", scratch.file("link"))
    symlink(scratch.file("link/file"), scratch.file("outer/absolute"))
    let file = try TrustedFile.open(scratch.file("outer/absolute"))
    #expect(try file.contents(limit: 100) == Array("text".utf8))
    chmod(scratch.file("outer/inner"), 0o777)
    #expect(
      Self.refusal(scratch.file("outer/absolute"))
        == .changeable(scratch.file("outer/inner"), .everyone))
  }

  @Test(.enabled(if: isRoot))
  func `a link of another user's is refused, wherever it leads`() throws {
    let scratch = try Self.tree()
    chmod(scratch.path, 0o1777)
    symlink(scratch.file("outer"), scratch.file("link"))
    lchown(scratch.file("link"), 1, 0)
    #expect(
      Self.refusal(scratch.file("link/inner/file")) == .changeable(scratch.file("link"), .owner(1)))
  }

  @Test func `a link to nothing is not taken for a file that is missing`() throws {
    let scratch = Scratch()
    symlink(scratch.file("nothing"), scratch.file("link"))
    #expect(Self.refusal(scratch.file("link")) == .linkToNothing(scratch.file("link")))
    symlink(scratch.path, scratch.file("directory"))
    #expect(Self.refusal(scratch.file("directory/none"))?.isMissing == true)
  }

  @Test func `a circle of links ends`() throws {
    let scratch = Scratch()
    symlink(scratch.file("b"), scratch.file("a"))
    symlink(scratch.file("a"), scratch.file("b"))
    #expect(Self.refusal(scratch.file("a")) == .failed(scratch.file("a"), .symbolicLink))
  }

  @Test func `what is missing is told apart, and what is no file is refused at once`() throws {
    let scratch = try Self.tree()
    mkfifo(scratch.file("pipe"), 0o600)
    #expect(Self.refusal(scratch.file("absent"))?.isMissing == true)
    #expect(
      Self.refusal(scratch.file("outer/inner/file/x")) == .failed(scratch.file("outer/inner/file/x"), .notDirectory))
    #expect(Self.refusal(scratch.file("pipe")) == .notAFile(scratch.file("pipe")))
    #expect(Self.refusal(scratch.file("outer")) == .notAFile(scratch.file("outer")))
    #expect(Self.refusal("relative") == .failed("relative", .invalid))
  }
}
