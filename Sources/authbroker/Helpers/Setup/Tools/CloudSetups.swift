import BrokerProtocol

extension ToolSetup {
  /// The libraries and commands of AWS: a file with an ID token (AssumeRoleWithWebIdentity).
  static let aws = cloud(
    "aws", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN=arn:aws:iam::ACCOUNT:role/ROLE AWS_ROLE_SESSION_NAME=authbroker"
  )

  /// The libraries of Azure: a file with an ID token (workload identity federation).
  static let azure = cloud("azure", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_TENANT_ID=TENANT AZURE_CLIENT_ID=CLIENT")

  /// Google's libraries: an executable that gives the ID token.
  static let google = ToolSetup(
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

  /// A cloud whose libraries read a token from a file that a variable names.
  private static func cloud(_ name: String, _ variable: String, _ others: String) -> ToolSetup {
    ToolSetup(
      name: name, summary: "a file with an ID token, by \(variable)",
      needsTargets: false,
      concerns: { _ in false },
      steps: { _, setup in
        let path = "\"$XDG_RUNTIME_DIR/\(name)-token\""
        return [
          NoteStep(
            text: """
              for as long as it is needed, or as a service of systemd (the profile needs allowIdToken: true):
                \(setup.program) file --id \(path) &
              and in the environment of its programs:
                export \(variable)=\(path) \(others)
              """)
        ]
      },
      probe: { _, _ in .file(variable: variable) })
  }
}
