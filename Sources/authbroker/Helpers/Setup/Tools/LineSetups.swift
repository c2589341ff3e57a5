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
    probe: { target, setup in .run(program: setup.program, arguments: ["helper", "curl", target.url]) })

  /// The go command.
  static let go = ToolSetup(
    name: "go", summary: "a header for each module proxy, by GOAUTH (Go 1.24)",
    concerns: \.isWeb,
    steps: { _, setup in [NoteStep(text: "go env -w GOAUTH=\"\(setup.program) helper go\"")] },
    probe: { target, setup in .run(program: setup.program, arguments: ["helper", "go", target.url]) })
}
