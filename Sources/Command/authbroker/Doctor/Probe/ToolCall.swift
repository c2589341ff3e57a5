import BrokerProtocol

/// A call of the real program that makes it ask its helper and send the token to a probe on this machine.
///
/// It is made in a home of its own, which is removed, so that nothing of the user's is read as configuration or changed.
struct ToolCall: Sendable {
  /// What shows that the program uses its helper.
  enum Evidence: Sendable {
    /// The probe got the token.
    case token
    /// The program connects only once it has its helper's answer, and hides it from the probe by TLS.
    case connection
  }

  /// The program, as the `PATH` has it.
  let program: String
  /// What it takes, as in `pip 23.1 or later`.
  let requirement: String
  /// What it speaks.
  var dialect = ProbeConversation.Dialect.http
  /// What the probe asks for (RFC 9110, section 11.6.1).
  var challenge = "Basic realm=\"probe\""
  /// What shows that it works.
  var evidence = Evidence.token
  /// Whether a target is one that it is run for.
  var concerns: @Sendable (Target) -> Bool = { _ in true }
  /// The exit code by which it says that a part of it is not installed.
  var codeOfMissingPart: Int32?
  /// What it says, among other words, where it is too old.
  var signOfAge: String?
  /// What to run.
  let words: @Sendable (ProbePlace) -> ToolInvocation
}

/// What a call of a tool is made of, besides the program.
struct ToolInvocation: Equatable, Sendable {
  /// What follows the program's name.
  var arguments: [String]
  /// What it reads; nil: what its helper answered to the helper's own call.
  var input: String? = ""
  /// What stands in its environment besides the usual.
  var environment: [String: String] = [:]
  /// Files of its home, by their names there.
  var files: [String: String] = [:]
}

/// Where a call is made.
struct ProbePlace: Sendable {
  /// What the token is for.
  let target: Target
  /// The port of the probe on 127.0.0.1.
  let port: Int
  /// The home of the call.
  let home: String
  /// Where this program is, and what the user's environment is.
  let setup: SetupContext

  /// The probe, as a host with a port.
  var authority: String { "127.0.0.1:\(port)" }
  /// The user name of the target.
  var username: String { target.username ?? AuthorizationValue.standardUsername }
}
