import BrokerProtocol
import SecretMemory

/// A credential helper's answer to git (git-credential(1), "Input/output format").
struct GitAnswer: Equatable, Sendable {
  /// The form in which the token is sent.
  enum Form: Equatable, Sendable {
    /// As the password of a user.
    case password(username: String?)
    /// As it is, behind the name of a scheme of authentication.
    case credential(authtype: String)
  }

  /// The token.
  var token: AccessToken
  /// The form in which it is sent.
  var form: Form
  /// git's capabilities: only those are used.
  var capabilities: [String]
  /// Whether git should ask once more if the server refuses the token.
  var mayAskAgain: Bool

  /// The answer as git reads it, without the end of its last line; nil where a value would not be one line.
  ///
  /// `authtype` stands first: git takes no `credential` before it knows that the helper can do that.
  func bytes() -> [UInt8]? {
    var lines: [String] = []
    let name: String
    let knowsState = capabilities.contains("state")
    let knowsScheme = capabilities.contains("authtype")
    if knowsScheme { lines.append("capability[]=authtype") }
    if knowsState { lines.append("capability[]=state") }
    switch form {
    case .password(let username):
      name = "password"
      if let username { lines.append("username=\(username)") }
    case .credential(let authtype):
      name = "credential"
      lines.append("authtype=\(authtype)")
    }
    // A token lives for minutes; this keeps it out of the stores of other helpers.
    if knowsScheme { lines.append("ephemeral=1") }
    if let expiry = token.expiresAt { lines.append("password_expiry_utc=\(expiry.milliseconds / 1000)") }
    if knowsState {
      lines.append("state[]=\(GitCredential.statePrefix)\(token.tokenID)")
      if mayAskAgain { lines.append("continue=1") }
    }
    guard lines.allSatisfy(Self.isLine), token.accessToken.withBytes(Self.isLine) else { return nil }
    return SecretText.bytes(lines.map { $0 + "\n" }.joined() + "\(name)=", token.accessToken)
  }

  private static func isLine(_ text: String) -> Bool { text.utf8.allSatisfy { $0 != 0 && $0 != 0x0A && $0 != 0x0D } }

  private static func isLine(_ bytes: Span<UInt8>) -> Bool {
    bytes.indices.allSatisfy { bytes[$0] != 0 && bytes[$0] != 0x0A && bytes[$0] != 0x0D }
  }
}
