import SecretMemory

extension SecretInput {
  /// Gets a secret the way that the command line says: from standard input, or from a program.
  ///
  /// - Parameters:
  ///   - kind: what the secret is.
  ///   - context: the command line and the environment.
  ///   - command: the option that names a program which prints it.
  ///   - isNew: whether it is not the secret that is there already.
  /// - Returns: nil where a person is to be asked.
  /// - Throws: a usage failure if no person can be asked.
  static func given(
    _ kind: Kind, _ context: Context, command: String, isNew: Bool = false
  ) throws(CommandFailure) -> Secret? {
    if context.arguments.has("--password-stdin") { return try standardInput(kind, isNew: isNew) }
    if context.arguments.has(command) { return try output(of: command, context, kind) }
    guard context.canAsk else {
      throw .usage("there is no terminal to ask for the \(kind.rawValue) at; use --password-stdin or \(command)")
    }
    return nil
  }

  /// Gets a token of a message: from standard input where `--token-stdin` says so, else from a person.
  ///
  /// - Throws: a usage failure if no person can be asked.
  static func token(_ context: Context) throws(CommandFailure) -> Secret {
    if context.arguments.has(tokenOption.name) { return try standardInput(.token) }
    guard context.canAsk else { throw .usage("there is no terminal to ask for the token at; use \(tokenOption.name)") }
    return try ask("Token: ", for: .token)
  }

  /// The option of every command that takes a token.
  static let tokenOption = Option.flag("--token-stdin", "read the token from standard input, one line")
}
