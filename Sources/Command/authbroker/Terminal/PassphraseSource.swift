import SecretMemory

/// The sources of passphrases for `unlock` and `rekey`: standard input, a program's output, or a person who is asked.
enum PassphraseSource {
  /// The options of both commands.
  static let options: [Option] = [
    .flag("--password-stdin", "read the passphrase from standard input, one line"),
    .value("--password-command", "CMD", "take it from the first line that a shell command prints"),
  ]

  /// How often a person may answer with a passphrase that is wrong, as with sudo(8).
  static let attempts = 3

  /// How long an answer may take, where `--timeout` does not say: a program that prints the key may ask a person for as
  /// long as the configuration lets it (ten minutes at most), and wrong passphrases before this one are delayed.
  static let patience = Duration.seconds(660)

  /// Whether a person is asked, and so may be asked again.
  static func asks(_ context: Context) -> Bool {
    !context.arguments.has("--password-stdin") && !context.arguments.has("--password-command")
  }

  /// The passphrase that the vault has.
  ///
  /// - Throws: a usage failure if no person can be asked.
  static func present(_ context: Context) throws(CommandFailure) -> Secret {
    if let given = try SecretInput.given(.passphrase, context, command: "--password-command") { return given }
    return try SecretInput.ask("Passphrase: ", for: .passphrase)
  }

  /// The passphrase that the vault is to have, asked for twice.
  ///
  /// - Parameters:
  ///   - context: the command line.
  ///   - command: the option that names a program which prints it.
  /// - Returns: the passphrase.
  /// - Throws: a usage failure if no person can be asked, or if the two answers still differ at the third time.
  static func new(_ context: Context, command: String = "--password-command") throws(CommandFailure) -> Secret {
    if let given = try SecretInput.given(.passphrase, context, command: command, isNew: true) { return given }
    return try RepeatedSecret.ask("New passphrase", for: .passphrase) { passphrase in
      passphrase.withBytes { $0.count } < fewestBytes ? "a passphrase must have at least \(fewestBytes) bytes" : nil
    }
  }

  /// The fewest bytes that the vault takes.
  private static let fewestBytes = 8
}
