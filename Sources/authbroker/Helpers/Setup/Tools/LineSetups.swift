import BrokerProtocol

extension ToolSetup {
  /// curl: nothing is installed; the helper prints a line of its configuration.
  static let curl = ToolSetup(
    name: "curl", summary: "a line of curl's configuration, which no list of processes shows",
    concerns: \.isWeb,
    steps: { targets, _ in
      let url = targets.first?.url ?? "https://api.example.com"
      return [NoteStep(text: "authbroker helper curl \(url) | curl --config - \(url)")]
    },
    probe: { target, scene in .run(program: scene.program, arguments: ["helper", "curl", target.url]) })

  /// The go command.
  static let go = ToolSetup(
    name: "go", summary: "a header for each module proxy, by GOAUTH (Go 1.24)",
    concerns: \.isWeb,
    steps: { _, scene in [NoteStep(text: "go env -w GOAUTH=\"\(scene.program) helper go\"")] },
    probe: { target, scene in .run(program: scene.program, arguments: ["helper", "go", target.url]) })
}
