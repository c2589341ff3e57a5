import LinuxSystem

/// The program that a helper stands in front of on the search path.
enum NextProgram {
  /// Set for the program that is run, so that two helpers never hand the same words to each other for ever.
  static let mark = "AUTHBROKER_HANDED_ON"

  /// Becomes the next program of a name that is not this one; returns where there is none.
  ///
  /// - Parameters:
  ///   - name: the name that this program was called by.
  ///   - words: what it was given.
  ///   - environment: whose `PATH` counts.
  /// - Throws: a failure if the program is there and cannot be executed.
  static func run(_ name: String, _ words: [String], _ environment: [String: String]) throws(CommandFailure) {
    guard environment[mark] == nil, let path = path(of: name, environment, "/proc/self/exe") else { return }
    var environment = environment
    environment[mark] = name
    do throws(Errno) { try ProcessImage.replace(path: path, arguments: words, environment: environment) } catch {
      throw CommandFailure(.failure, "\(path.shellQuoted) cannot be executed: \(error)")
    }
  }

  /// The first program of a name on the search path that is another file than a given one; nil where there is none.
  static func path(of name: String, _ environment: [String: String], _ own: String) -> String? {
    let itself = (try? FileStatus.following(own))?.identity
    return SearchPath.program(name, environment) { $0.isProgram && $0.identity != itself }
  }
}
