import LinuxSystem
import SecretMemory

/// The sources of a refresh token that another program has obtained: standard input, or a person; never an argument.
enum RefreshTokenSource {
  /// The option for standard input.
  static let option = Option.flag(
    "--refresh-token-stdin", "read the refresh token of --method refreshToken from standard input, one line")

  /// Gets the token the way that the command line says, or asks.
  ///
  /// - Throws: a usage failure for what cannot be a refresh token, and where no person can be asked.
  static func token(_ context: Context) throws(CommandFailure) -> Secret {
    let token: Secret
    if context.arguments.has(option.name) {
      guard !Terminal.isTerminal(0) else {
        throw .usage(
          "standard input is a terminal, which would show the token and cut it off; leave \(option.name) out to be asked"
        )
      }
      token = try SecretInput.wholeInput(.refreshToken)
    } else {
      guard context.canAsk else {
        throw .usage("there is no terminal to ask for the refresh token at; use \(option.name)")
      }
      token = try SecretInput.ask("Refresh token: ", for: .refreshToken)
    }
    guard isWhole(token) else { throw CommandFailure(.usage, "the refresh token \(Self.flaw); nothing was sent") }
    return token
  }

  /// The words for a text that is no refresh token.
  static let flaw = "has a blank, a control character or a letter beyond ASCII in it, which none has"

  /// Whether a text can be a refresh token (RFC 6749, appendix A.17), without the blanks that no provider puts into one and
  /// a copied text may have.
  static func isWhole(_ token: Secret) -> Bool {
    token.withBytes { bytes in
      bytes.indices.allSatisfy { (0x21...0x7E).contains(bytes[$0]) }
    }
  }

  /// Warns, once the token was spent, that the other program cannot go on with it.
  static func warn() {
    Output.message(
      "the refresh token is the broker's own now: once the provider rotates it, the other program's copy is no longer valid,"
        + " and using it there may end this session; let that program ask for its tokens here")
  }
}
