import BrokerProtocol
import JSON

extension GoogleHelper {
  /// Google's libraries: an executable that gives the ID token.
  static let setup: ToolSetup? = ToolSetup(
    name: "google", summary: "an ID token to exchange, by an executable source of external_account",
    concerns: { $0.isWeb },
    steps: { _, setup in
      [
        NoteStep(
          text: """
            in the credential configuration of type external_account:
              "credential_source": {
                "executable": { "command": "\(setup.program) helper google", "timeout_millis": 10000 }
              }
            and in the environment of its programs:
              export GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1
            """)
      ]
    },
    probe: { target, setup in
      guard isPool(target) else { return nil }
      return .run(
        program: setup.program, arguments: ["helper", "google"],
        environment: [
          "GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE": audience(of: target),
          "GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE": TokenType.jwt.rawValue,
        ])
    },
    calls: [call])

  /// Whether a target is a pool of workload identities.
  private static func isPool(_ target: Target) -> Bool { target.host == "iam.googleapis.com" }

  /// The audience is the target without its scheme.
  private static func audience(of target: Target) -> String { String(target.url.dropFirst("https:".utf8.count)) }

  /// What a program of Google's library does to get its first token; 3 where the library is not there.
  private static let python = """
    import sys
    try:
        from google.auth import pluggable
        from google.auth.transport.requests import Request
    except ImportError:
        sys.exit(3)
    pluggable.Credentials.from_file(sys.argv[1], scopes=["https://example.com/probe"]).refresh(Request())
    """

  private static var call: ToolCall {
    ToolCall(
      program: "python3", requirement: "the Python package google-auth[requests] 2.6 or later", concerns: isPool,
      codeOfMissingPart: 3
    ) { place in
      var writer = JSONWriter()
      writer.object { writer in
        writer.member("type", "external_account")
        writer.member("audience", audience(of: place.target))
        writer.member("subject_token_type", TokenType.jwt.rawValue)
        writer.member("token_url", "http://\(place.authority)/v1/token")
        writer.key("credential_source")
        writer.object { writer in
          writer.key("executable")
          writer.object { writer in
            writer.member("command", "\(place.setup.program) helper google")
            writer.member("timeout_millis", 10000)
          }
        }
      }
      return ToolInvocation(
        arguments: ["-c", python, "\(place.home)/google.json"],
        environment: ["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES": "1"],
        files: ["google.json": String(decoding: writer.bytes, as: UTF8.self)])
    }
  }
}
