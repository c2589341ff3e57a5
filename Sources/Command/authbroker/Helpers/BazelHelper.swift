import BrokerProtocol
import JSON
import SecretMemory

/// `authbroker helper bazel`: the credential helper of Bazel and its relatives (EngFlow/credential-helper-spec,
/// spec.md).
enum BazelHelper: ToolHelper {
  static let name = "helper bazel"
  static let about = CommandDescription(
    operands: "get",
    summary: "Give Bazel the headers for an address",
    details: """
      Reads {"uri": ADDRESS} and prints {"headers": …, "expires": …}; {} for an
      address that is not a configured target. Bazel runs it by a name of its own:
        bazel build --credential_helper=*.example.com=bazel-credential-authbroker //…
      """,
    examples: [#"echo '{"uri": "https://cache.example.com"}' | authbroker helper bazel get"#])
  static let programNames = ["bazel-credential-authbroker"]

  /// Answers one request.
  ///
  /// A second question is no sign of a refused token: Bazel asks hundreds of times for one address before 7.4
  /// (bazelbuild/bazel#23429), and each time where it reads a registry (bazelbuild/bazel#25527).
  static func run(_ context: Context) throws(CommandFailure) {
    guard context.arguments.operands[0] == "get" else { throw .usage("unknown request; use get") }
    guard let address = address(in: try ToolLines.all()) else {
      throw CommandFailure(.usage, "standard input must be a JSON object with a string \"uri\"")
    }
    var broker = try HelperBroker(context, sending: .any)
    var grant: HelperBroker.Grant?
    do throws(CommandFailure) { grant = try broker.grant(for: address) } catch {
      guard error.error?.kind == .invalidParams else { throw error }
    }
    guard let grant else { return Output.line("{}") }
    Output.line(answer(grant.token, for: grant.target))
  }

  /// The address of a request; nil where it is malformed.
  ///
  /// Members that are not known are ignored, as the specification demands.
  static func address(in request: [UInt8]) -> String? {
    guard let document = try? JSONDocument(parsing: request), let address = document.root["uri"] else { return nil }
    return try? address.string()
  }

  /// The answer with a token.
  ///
  /// - Returns: JSON, which the caller wipes.
  static func answer(_ token: AccessToken, for target: Target) -> [UInt8] {
    var (name, value) = AuthorizationValue.field(with: token, for: target)
    defer { wipe(&value) }
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("headers")
      writer.object { writer in
        writer.key(name)
        writer.array { writer in writer.string(utf8: value.span) }
      }
      writer.member(ifPresent: "expires", token.expiresAt)
    }
    return writer.bytes
  }
}
