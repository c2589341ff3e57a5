import LinuxSystem

/// The command line as the kernel gave it.
struct RawArguments {
  /// The last component of the name that the program was called by; nil where no word can be read.
  let programName: String?
  /// The words behind the program's name; nil if one of them is no UTF-8.
  ///
  /// To replace bytes of a path or of an address would make another one of it.
  let words: [String]?

  /// The arguments of this process.
  init() {
    let all = CommandLineWords.all
    programName = all.first.map { first in
      let name = String(decoding: first, as: UTF8.self)
      return name.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(name[name.utf8.index(after: $0)...]) } ?? name
    }
    let words = all.dropFirst().compactMap { String(validating: $0, as: UTF8.self) }
    self.words = words.count == all.dropFirst().count ? words : nil
  }
}
