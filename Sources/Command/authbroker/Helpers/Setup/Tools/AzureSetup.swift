extension ToolSetup {
  /// The libraries of Azure: a file with an ID token, named by a variable (workload identity federation).
  static let azure = ToolSetup(
    name: "azure", summary: "a file with an ID token, by AZURE_FEDERATED_TOKEN_FILE",
    needsTargets: false,
    concerns: { _ in false },
    steps: { _, setup in
      let path = "\"$XDG_RUNTIME_DIR/azure-token\""
      return [
        NoteStep(
          text: """
            for as long as it is needed, or as a service of systemd (the profile needs allowIdToken: true):
              \(setup.program) file --id \(path) &
            and in the environment of its programs:
              export AZURE_FEDERATED_TOKEN_FILE=\(path) AZURE_TENANT_ID=TENANT AZURE_CLIENT_ID=CLIENT
            """)
      ]
    },
    probe: { _, _ in .file(variable: "AZURE_FEDERATED_TOKEN_FILE") })
}
