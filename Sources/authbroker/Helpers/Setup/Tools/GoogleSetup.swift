import BrokerProtocol

extension GoogleHelper {
  /// Google's libraries: an executable that gives the ID token.
  static let setup: ToolSetup? = ToolSetup(
    name: "google", summary: "an ID token to exchange, by an executable source of external_account",
    concerns: \.isWeb,
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
    probe: { _, _ in nil })
}
