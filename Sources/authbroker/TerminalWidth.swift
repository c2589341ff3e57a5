import LinuxSystem

/// How wide the terminal is.
enum TerminalWidth {
  /// The columns of the terminal on standard error, as stty(1) tells them; nil where that is not known.
  static func columns(_ environment: [String: String]) -> Int? {
    guard let program = SearchPath.program("stty", environment) else { return nil }
    return try? FileDescriptor.pipe().ends { (readEnd, writeEnd) throws(Errno) -> Int? in
      var plan = ChildProcess.Plan(path: program, arguments: ["size"], environment: environment)
      plan.descriptors = [(2, 0), (writeEnd.number, 1)]
      let child = try ChildProcess(plan)
      writeEnd.close()
      var line = [UInt8](repeating: 0, count: 64)
      let result = readEnd.read(into: &line)
      try child.wait()
      guard case .bytes(let count) = result else { return nil }
      return columns(in: String(decoding: line[..<count], as: UTF8.self))
    }
  }

  /// The second of two numbers, rows and columns; nil for 0, which stands for a size that is not known.
  static func columns(in line: String) -> Int? {
    let numbers = line.split(whereSeparator: \.isWhitespace).map { Int($0) }
    guard numbers.count == 2, let columns = numbers[1], columns > 0 else { return nil }
    return columns
  }
}
