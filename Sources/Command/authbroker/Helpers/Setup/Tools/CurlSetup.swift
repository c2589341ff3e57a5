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
    probe: { target, setup in .run(program: setup.program, arguments: ["helper", "curl", target.url]) },
    calls: [
      // As in the pipe: what the helper has answered is what curl reads.
      ToolCall(program: "curl", requirement: "curl") { place in
        ToolInvocation(
          arguments: [
            "--disable", "--silent", "--show-error", "--fail", "--max-time", "20", "--config", "-",
            "http://\(place.authority)/",
          ],
          input: nil)
      },
      ToolCall(program: "rclone", requirement: "rclone 1.55 or later", concerns: { $0.scheme != .basic }) { place in
        ToolInvocation(
          arguments: ["--config", "", "--retries", "1", "--low-level-retries", "1", "lsd", ":webdav:"],
          environment: [
            "RCLONE_WEBDAV_URL": "http://\(place.authority)/",
            "RCLONE_WEBDAV_BEARER_TOKEN_COMMAND": "\(place.setup.program) token --url \(place.target.url)",
          ])
      },
    ])
}
