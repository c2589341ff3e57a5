/// Taking paths apart, by bytes: no file system is asked.
package enum PathName {
  /// Whether a path begins with a slash, whatever follows it: a combining character too.
  package static func isAbsolute(_ path: some StringProtocol) -> Bool { path.utf8.first == UInt8(ascii: "/") }

  /// The part before the last component of an absolute path; `/` for a path at the root.
  package static func directory(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.utf8.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// The last component of a path.
  package static func name(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.utf8.index(after: slash)...])
  }

  /// An absolute path without `.`, `..`, empty components and a slash at the end.
  ///
  /// Symbolic links are not looked at.
  ///
  /// - Parameters:
  ///   - path: absolute or relative.
  ///   - base: an absolute directory that a relative path begins at.
  /// - Returns: the path.
  package static func absolute(_ path: String, in base: @autoclosure () -> String) -> String {
    guard !isNormal(path) else { return path }
    var components: [Substring] = []
    let full = PathName.isAbsolute(path) ? path : base() + "/" + path
    for component in full.utf8.split(separator: UInt8(ascii: "/")) {
      switch Substring(component) {
      case ".": continue
      case "..": _ = components.popLast()
      case let name: components.append(name)
      }
    }
    return "/" + components.joined(separator: "/")
  }

  /// Whether a path is absolute, and has no empty component and none that begins with a dot.
  private static func isNormal(_ path: String) -> Bool {
    var last: UInt8 = 0
    for byte in path.utf8 {
      switch (last, byte) {
      case (0, UInt8(ascii: "/")): break
      case (0, _), (UInt8(ascii: "/"), UInt8(ascii: "/")), (UInt8(ascii: "/"), UInt8(ascii: ".")): return false
      default: break
      }
      last = byte
    }
    return last != 0 && last != UInt8(ascii: "/")
  }
}
