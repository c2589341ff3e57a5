/// The command line as the kernel gave it.
enum RawArguments {
  /// The last component of the name that the program was called by; empty where there is none.
  static var programName: String {
    // As below.
    guard CommandLine.argc > 0, let word = unsafe CommandLine.unsafeArgv[0] else { return "" }
    // As below.
    let name = unsafe String(cString: word)
    return name.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(name[name.utf8.index(after: $0)...]) } ?? name
  }

  /// The words behind the program's name; nil if one of them is no UTF-8.
  ///
  /// To replace bytes of a path or of an address would make another one of it.
  static var words: [String]? {
    var words: [String] = []
    for index in 1..<max(1, Int(CommandLine.argc)) {
      // The list has `argc` entries, NUL-terminated strings that live as long as the process.
      guard let word = unsafe CommandLine.unsafeArgv[index] else { break }
      // As above; the text is copied at once.
      guard let text = unsafe String(validatingCString: word) else { return nil }
      words.append(text)
    }
    return words
  }
}
