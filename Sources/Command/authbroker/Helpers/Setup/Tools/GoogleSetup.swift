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
    requirement: "google-auth 2.6")

  /// Whether a target is a pool of workload identities.
  private static func isPool(_ target: Target) -> Bool { target.host == "iam.googleapis.com" }

  /// The audience is the target without its scheme.
  private static func audience(of target: Target) -> String { String(target.url.dropFirst("https:".utf8.count)) }
}
