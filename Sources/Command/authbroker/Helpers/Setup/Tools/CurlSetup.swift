import BrokerProtocol

extension CurlHelper {
  /// curl: nothing is installed; the helper prints a line of its configuration.
  static let setup: ToolSetup? = ToolSetup(
    name: "curl", otherNames: ["rclone"], summary: "a line of curl's configuration, which no list of processes shows",
    concerns: { $0.isWeb },
    steps: { targets, _ in
      let url = targets.first?.url ?? "https://api.example.com"
      return [NoteStep(text: "authbroker helper curl \(url) | curl --config - \(url)")]
    },
    probe: { target, setup in .run(program: setup.program, arguments: ["helper", "curl", target.url]) })
}
