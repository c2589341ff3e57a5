/// Settings that name files and programs.
extension ConfigurationSection {
  /// The absolute path of a file; nil where it is absent or faulty.
  package mutating func filePath(_ key: String) -> String? {
    guard let path = string(key, takesAny: false) else { return nil }
    // By bytes, as a path is taken elsewhere: an accent behind a slash makes one character of both.
    let slash = UInt8(ascii: "/")
    if path.utf8.first == slash, path.utf8.last != slash, !path.utf8.contains(0) { return path }
    let home = path.hasPrefix("~/") ? "for your home directory write ${HOME}/" : nil
    report(key, #"must be the absolute path of a file, such as "${HOME}/keys/example.pem""#, home)
    return nil
  }

  /// The absolute path of a file with the certificates of trusted authorities; nil where it is absent or faulty.
  ///
  /// Whether the file exists is only checked where the reader of the configuration asks for it: it may come later.
  package mutating func authorityFile(_ key: String) -> String? {
    guard let path = filePath(key) else { return nil }
    if let objection = context.objection(toAuthorityFile: path) { report(key, objection) }
    return path
  }

  /// A program (its name, or its absolute path) and its arguments; nil where it is absent or faulty.
  ///
  /// Where the names of `placeholders` are filled in later, they may stand in arguments.
  package mutating func program(_ key: String, keeping placeholders: Set<String> = []) -> [String]? {
    guard let command = strings(key, keeping: placeholders) else { return nil }
    let (slash, dollar) = (UInt8(ascii: "/"), UInt8(ascii: "$"))
    if let program = command.first?.utf8, !program.isEmpty, program.first == slash || !program.contains(slash),
      !command.contains(where: { $0.utf8.contains(0) }), placeholders.isEmpty || !program.contains(dollar)
    {
      return command
    }
    report(key, "must begin with a program: its name, or its absolute path")
    return nil
  }
}
