import CLinux

extension ProcessImage {
  /// Executes another program in this process, with the environment of this one, byte for byte, and some variables more
  /// (execve(2)).
  ///
  /// - Parameters:
  ///   - path: the file; no search path is looked through.
  ///   - arguments: what follows the program's name.
  ///   - name: the program's own name for itself, as execvp(3) would give it.
  ///   - variables: `NAME=value` and a NUL at the end; each takes the place of the variable of that name.
  /// - Returns: never, where it succeeds.
  /// - Throws: what execve(2) says. The caller wipes `variables` then.
  package static func replace(
    path: String, arguments: [String], name: String, adding variables: [[UInt8]]
  ) throws(Errno) -> Never {
    // The lists are NULL-terminated, and they and what they point to live until execve has copied them.
    let code = unsafe ChildProcess.withStrings([name] + arguments) { arguments in
      // As above.
      var list = unsafe inheritedEntries(without: variables.map(nameLength))
      return unsafe withPointers(to: variables[...], after: &list) { environment in
        ProcessHardening.withInheritedLimits {
          // As above; the path is NUL-terminated for the length of the call.
          unsafe -clinux_result(execve(path, arguments, environment))
        }
      }
    }
    throw Errno(code: code)
  }

  /// A variable up to and with its `=`.
  private static func nameLength(_ variable: [UInt8]) -> ArraySlice<UInt8> {
    variable[...(variable.firstIndex(of: UInt8(ascii: "=")) ?? variable.endIndex - 1)]
  }

  /// The entries of this process's environment that begin with none of the names.
  private static func inheritedEntries(without names: [ArraySlice<UInt8>]) -> [UnsafeMutablePointer<CChar>?] {
    var entries: [UnsafeMutablePointer<CChar>?] = unsafe []
    var index = 0
    // The list ends with NULL; its entries are NUL-terminated, and no other thread changes them.
    while let entry = unsafe clinux_environment_entry(index) {
      index += 1
      let isReplaced = names.contains { name in
        // Compared up to the first difference, the terminating NUL included.
        name.enumerated().allSatisfy { unsafe UInt8(bitPattern: entry[$0.offset]) == $0.element }
      }
      // execve takes them as they are and does not write to them.
      if !isReplaced { unsafe entries.append(UnsafeMutablePointer(mutating: entry)) }
    }
    return unsafe entries
  }

  /// Lends a NULL-terminated list of what stands in `list` and of the further strings, without copying those.
  private static func withPointers(
    to strings: ArraySlice<[UInt8]>, after list: inout [UnsafeMutablePointer<CChar>?],
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32
  ) -> Int32 {
    guard let first = strings.first else {
      unsafe list.append(nil)
      // The buffer is not empty, so it has an address; it is lent for the closure only.
      return unsafe list.withUnsafeBufferPointer { unsafe body($0.baseAddress.unsafelyUnwrapped) }
    }
    // The pointer is valid while the closure runs, in which the list is used; characters and bytes have the same layout.
    return unsafe first.withUnsafeBytes { bytes in
      let start = unsafe bytes.baseAddress.map { unsafe $0.assumingMemoryBound(to: CChar.self) }
      unsafe list.append(UnsafeMutablePointer(mutating: start))
      return unsafe withPointers(to: strings.dropFirst(), after: &list, body)
    }
  }
}
