import LinuxSystem

/// A new directory (0700) for one test, removed with everything in it when the last reference goes.
package final class Scratch: Sendable {
  private let directory: TemporaryDirectory

  /// Makes the directory; a machine on which that fails can run no test.
  package init() {
    do { directory = try TemporaryDirectory(prefix: "ab", in: Scratch.parent) } catch {
      preconditionFailure("no temporary directory: \(error)")
    }
  }

  /// Where tests make temporary files, they themselves and the programs that they start: `TEST_TMPDIR`, as Bazel's
  /// test runners name it, which `.ci/swift-test` sets and finds empty afterwards; else `/tmp`.
  ///
  /// A path that leaves too little room for the paths of sockets (unix(7): 107 bytes) is not taken.
  package static let parent: String = {
    let chosen = Environment.current["TEST_TMPDIR"] ?? ""
    return chosen.hasPrefix("/") && chosen.utf8.count <= longestParent ? chosen : "/tmp"
  }()

  /// The longest socket path of a test, below ``parent``, has less than 80 bytes.
  private static let longestParent = 27

  /// The absolute path.
  package var path: String { directory.path }

  /// The path of a file in it, whether there is one or not.
  package func file(_ name: String) -> String { path + "/" + name }

  /// The names of its files, sorted.
  package var names: [String] { names(in: "") }

  /// The names in a directory below it, sorted; none where it cannot be read.
  package func names(in subdirectory: String) -> [String] {
    (try? TemporaryDirectory.names(in: file(subdirectory))) ?? []
  }

  /// What a file has in it, up to 8 MiB.
  package func bytes(of name: String) throws -> [UInt8] {
    try FileDescriptor.open(file(name), .read).contents(limit: 8 << 20)
  }

  /// Writes a file (0600) anew.
  package func write(_ bytes: [UInt8], to name: String) throws {
    try FileDescriptor.open(file(name), [.write, .create, .truncate]).writeAll(bytes.span)
  }

  /// Writes a text as a file (0600) anew.
  package func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

  /// The permissions of a file, links not followed; nil where there is none.
  package func mode(_ name: String) -> UInt32? { status(name)?.permissions }

  /// How many bytes a file has; nil where there is none.
  package func size(_ name: String) -> Int64? { status(name)?.size }

  private func status(_ name: String) -> FileStatus? { try? FileStatus.ofLink(file(name)) }
}
