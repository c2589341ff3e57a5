import LinuxSystem

/// The command line as the kernel gave it.
enum RawArguments {
  /// The last component of the name that the program was called by; empty where there is none.
  static var programName: String {
    guard let bytes = CommandLineWords.word(0) else { return "" }
    let name = String(decoding: bytes, as: UTF8.self)
    return name.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(name[name.utf8.index(after: $0)...]) } ?? name
  }

  /// The words behind the program's name; nil if one of them is no UTF-8.
  ///
  /// To replace bytes of a path or of an address would make another one of it.
  static var words: [String]? {
    var words: [String] = []
    while let bytes = CommandLineWords.word(words.count + 1) {
      guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
      words.append(text)
    }
    return words
  }
}
