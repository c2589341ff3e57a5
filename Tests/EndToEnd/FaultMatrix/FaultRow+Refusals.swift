/// The broker knows that nothing was spent, or that the session is over: neither is in doubt.
extension FaultRow {
  static let refusals: [FaultRow] = [
    FaultRow(
      name: "connections are refused",
      play: { stage in
        try stage.listen(false)
        try stage.endConnections()
        try stage.force()
        try stage.ask()
        try stage.listen(true)
        try stage.awaitDecision()
        try stage.ask()
      },
      heard: ["networkUnavailable", "A1 offline", "A2"], ledger: ["R1.1 rotated"], session: "authenticated"),
    passing("500", "status-500-json", "providerUnavailable", 500),
    waiting("503 with Retry-After", 503),
    waiting("429 with Retry-After", 429),
    passing("a captive portal: 200 with HTML", "captive-portal", "invalidResponse", 200),
    FaultRow(
      name: "a definitive refusal",
      play: { stage in
        _ = try stage.backend.ask("/revoke", "{}")
        try stage.force()
        try stage.ask()
      },
      heard: ["sessionExpired", "sessionExpired"], ledger: ["R1.1 refused"], session: "expired (refreshRejected)"),
  ]

  /// A failure that lasts for a while.
  private static func passing(_ name: String, _ fault: String, _ kind: String, _ status: Int) -> FaultRow {
    FaultRow(
      name: name,
      play: { stage in
        try stage.misbehave(fault, #","times":-1"#)
        try stage.force()
        try stage.ask()
        try stage.behave()
        try stage.awaitDecision()
        try stage.ask()
      },
      heard: [kind, "A1 offline", "A2"], ledger: ["R1.1 not acted on, \(status)", "R1.1 rotated"],
      session: "authenticated")
  }

  /// A failure with a wish of when to be asked again.
  private static func waiting(_ name: String, _ status: Int) -> FaultRow {
    FaultRow(
      name: name,
      play: { stage in
        try stage.misbehave("status-\(status)-retry-seconds", #","seconds":4"#)
        try stage.force()
        try stage.force()
        try stage.ask()
        try stage.awaitDecision()
        try stage.ask()
        let moments = try FaultLedger(stage.backend).requests
        guard moments.count == 2, moments[1] - moments[0] >= 4 else {
          throw TestFailure("the backend's wish was not respected: \(moments)")
        }
      },
      heard: ["providerUnavailable", "providerUnavailable", "A1 offline", "A2"],
      ledger: ["R1.1 not acted on, \(status)", "R1.1 rotated"], session: "authenticated")
  }
}
