import BrokerProtocol

/// The ways to log in that a command line can choose, by their names on the wire or an alias.
struct MethodOption {
  /// The option of `login`.
  static let login = MethodOption(LoginMethod.allCases)
  /// The option of a login that leaves nothing behind: that with a refresh token would spend another program's.
  static let trial = MethodOption([.password, .deviceCode, .browser, .clientCredentials])

  /// The methods that can be chosen.
  private let methods: [LoginMethod]

  private init(_ methods: [LoginMethod]) { self.methods = methods }

  /// The option, as the help of the command shows it.
  var option: Option {
    .value("--method", "METHOD", "\(choice); else the first offered", completion: .words(methods.map { $0.rawValue }))
  }

  private var choice: String {
    let names = methods.map { $0.rawValue }
    return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
  }

  /// The method that a command line chooses.
  ///
  /// - Parameters:
  ///   - arguments: the command line.
  ///   - passwordOptions: the command's options that make sense with a password only, and `--email`, which names the user
  ///     in a browser as well.
  /// - Returns: nil where the provider's own first one is meant.
  /// - Throws: a usage failure for another name, or for an option that does not go with the method.
  func method(
    _ arguments: Arguments, passwordOptions: [String]
  ) throws(CommandFailure) -> LoginMethod? {
    let given = passwordOptions.filter(arguments.has)
    let givesToken = arguments.has(RefreshTokenSource.option.name)
    guard let name = arguments["--method"] else {
      if givesToken, let other = given.first {
        throw .usage("\(other) and \(RefreshTokenSource.option.name) cannot be combined")
      }
      return givesToken ? .refreshToken : given.isEmpty ? nil : .password
    }
    guard let chosen = LoginMethod(name: name), methods.contains(chosen) else {
      let nearest = Spelling.nearest(to: name, among: methods.map { $0.rawValue } + LoginMethod.aliases.keys)
      let likely = nearest.flatMap { LoginMethod(name: $0) }?.rawValue
      throw .unknown("login method", name, likely: likely, choices: choice)
    }
    let foreign = given.filter { chosen != .browser || $0 != "--email" }
    guard chosen == .password || foreign.isEmpty else { throw .usage("\(foreign[0]) is for --method password") }
    guard chosen == .refreshToken || !givesToken else {
      throw .usage("\(RefreshTokenSource.option.name) is for --method refreshToken")
    }
    return chosen
  }
}
