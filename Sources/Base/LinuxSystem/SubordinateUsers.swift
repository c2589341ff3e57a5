/// The users that a user may have in user namespaces (subuid(5)).
package enum SubordinateUsers {
  /// Longer than the list of any machine that keeps it in a file.
  private static let longest = 8 << 20

  /// Reads the ranges of a user from /etc/subuid.
  ///
  /// - Parameters:
  ///   - user: its number.
  ///   - name: its name, where it has one.
  /// - Returns: the ranges; none where the file cannot be read.
  package static func read(of user: UInt32, named name: String?) -> [ClosedRange<UInt32>] {
    guard let bytes = try? FileDescriptor.open("/etc/subuid", .read).contents(limit: longest) else { return [] }
    return ranges(of: user, named: name, in: String(decoding: bytes, as: UTF8.self))
  }

  /// The ranges of a user in the lines of such a file; a line that is none is left out.
  package static func ranges(of user: UInt32, named name: String?, in text: String) -> [ClosedRange<UInt32>] {
    text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      guard fields.count == 3, fields[0] == (name ?? "") && name != nil || UInt32(fields[0]) == user,
        let first = UInt32(fields[1]), let count = UInt32(fields[2]), count > 0
      else { return nil }
      let (last, isTooMany) = first.addingReportingOverflow(count - 1)
      return isTooMany ? nil : first...last
    }
  }
}
