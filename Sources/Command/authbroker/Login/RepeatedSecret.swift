import SecretMemory

/// A new password or passphrase, which a person types twice.
enum RepeatedSecret {
  /// How often a person may type two that differ, as with passwd(1).
  private static let tries = 3

  /// Asks for it, again while it is refused or its repetition differs.
  ///
  /// - Parameters:
  ///   - question: the first question, without a colon.
  ///   - kind: what it is.
  ///   - refusal: what is said of one that need not be repeated; nil where nothing is wrong with it.
  /// - Returns: the secret.
  /// - Throws: a usage failure after three pairs that differ.
  static func ask(
    _ question: String, for kind: SecretInput.Kind, refusal: (Secret) -> String? = { _ in nil }
  ) throws(CommandFailure) -> Secret {
    var left = tries
    while true {
      let secret = try SecretInput.ask("\(question): ", for: kind)
      if let refusal = refusal(secret) {
        Output.message(refusal)
        continue
      }
      guard try SecretInput.ask("Repeat the \(kind.rawValue): ", for: kind) != secret else { return secret }
      left -= 1
      let sentence = "the two \(kind.rawValue)s differ"
      guard left > 0 else { throw CommandFailure(.usage, sentence + "; nothing was sent") }
      Output.message(sentence + "; try again")
    }
  }
}
