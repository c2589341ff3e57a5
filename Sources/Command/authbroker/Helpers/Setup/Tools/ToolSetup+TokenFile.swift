extension ToolSetup {
  /// A cloud whose libraries read a token from a file that a variable names.
  static func tokenFile(
    _ name: String, _ variable: String, _ others: String, calls: [ToolCall] = [], reasonNotRun: String? = nil
  ) -> ToolSetup {
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
      probe: { _, _ in .file(variable: variable) },
      calls: calls, reasonNotRun: reasonNotRun)
  }
}
