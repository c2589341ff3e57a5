import BrokerProtocol

/// The ways to log in that somebody at a terminal can choose, by the names that are typed.
enum MethodOption: String, CaseIterable {
  /// An account and its password.
  case password
  /// A code to enter at another device.
  case device
  /// A browser on this computer.
  case browser
  /// The client itself.
  case client

  /// The option, as the help of every command shows it.
  static let option = Option.value("--method", "METHOD", "\(choice); else what the provider offers first")

  private static var choice: String {
    let names = allCases.map(\.rawValue)
    return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
  }

  /// What the wire calls it.
  private var method: LoginMethod {
    switch self {
    case .password: .password
    case .device: .deviceCode
    case .browser: .browser
    case .client: .clientCredentials
    }
  }

  /// The method that a command line chooses, by its name here or by that of the wire.
  ///
  /// - Parameters:
  ///   - arguments: the command line.
  ///   - passwordOptions: the command's options that make sense with a password only.
  /// - Returns: nil where the provider's own first one is meant.
  /// - Throws: a usage failure for another name, or for an option that does not go with the method.
  static func method(
    _ arguments: Arguments, passwordOptions: [String]
  ) throws(CommandFailure) -> LoginMethod? {
    let given = passwordOptions.filter(arguments.has)
    guard let name = arguments["--method"] else { return given.isEmpty ? nil : .password }
    guard let chosen = allCases.first(where: { $0.rawValue == name || $0.method.rawValue == name }) else {
      let likely = Spelling.nearest(to: name, among: allCases.map(\.rawValue)).map { " Did you mean \($0)?" } ?? ""
      throw .usage("--method is \(choice), not \(Advice.quoted(name)).\(likely)")
    }
    guard chosen == .password || given.isEmpty else { throw .usage("\(given[0]) is for --method password.") }
    return chosen.method
  }
}
