import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory

/// `authbroker import json`.
enum ImportJSONCommand: Command {
  static let name = "import json"
  static let about = CommandDescription(
    summary: "Take over a session that standard input describes",
    details: """
      Reads an object from standard input: refreshToken, and, where they are known, scopes (a list of strings),
      accessToken and expiresAt (RFC 3339). The broker refreshes once before the session counts; the access token is not
      used, since the one that comes with the refresh is the broker's own.

      The provider is that of the profile, whose clientId must be the one that the token was issued to. A session that the
      profile has is replaced; where it was another user's, that is said.
      """,
    examples: [
      "authbroker import json -p work <session.json",
      #"jq '{refreshToken: .refresh_token}' old.json | authbroker import json"#,
    ])

  /// Reads the object, and logs in with it.
  static func run(_ context: Context) throws(CommandFailure) {
    guard !Terminal.isTerminal(0) else {
      throw .usage("standard input is a terminal, which would show the token and cut it off; give a file or a pipe")
    }
    let session = try ImportedSession.read()
    try RefreshTokenLogin(context, try context.connect()).run(session.refreshToken, scopes: session.scopes)
  }
}
