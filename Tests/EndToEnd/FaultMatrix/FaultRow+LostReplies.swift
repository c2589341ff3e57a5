/// The request leaves the broker, and no answer comes back.
extension FaultRow {
  /// What callers get where nothing was spent after all: the token that they have, to its end, then a new one.
  static let saved = ["A1 offline", "refreshOutcomeUnknown", "A1 offline", "A2"]
  /// What callers get in the one case that nobody can save.
  static let lost = ["A1 offline", "refreshOutcomeUnknown", "A1 offline", "sessionExpired"]
  /// When nothing is left to lose, asking is the only way to be sure.
  static let spentTwiceAtTheEnd = ["R1.1 rotated", "R1.1 replayDetected"]
  /// How the broker calls that end.
  static let expired = "expired (refreshOutcomeUnknown)"

  static let lostReplies: [FaultRow] = [
    lost("the reply is dropped after the rotation", "drop-after-commit"),
    lost("the connection is reset after the rotation", "reset-after-commit"),
    lost("the reply is reset half-way", "reset-half-way"),
    lost("the reply is closed half-way", "close-half-way"),
    unspent("the connection is reset before the request is read", "reset-before-reading", ["R1.1 rotated"]),
    unspent(
      "the connection is reset when the request is read", "reset-before-commit",
      ["R1.1 not acted on", "R1.1 rotated"]),
    lost("a gateway answers 502 after the rotation", "status-502-html", #","commit":true"#),
    lost("a gateway answers 504 after the rotation", "status-504-empty", #","commit":true"#),
    lost("the reply to a rotation has nothing in it", "empty-200", #","commit":true"#),
    unspent("a gateway answers 502 by itself", "status-502-html", ["R1.1 not acted on, 502", "R1.1 rotated"]),
    unspent("a gateway answers 504 by itself", "status-504-empty", ["R1.1 not acted on, 504", "R1.1 rotated"]),
    unspent("an empty 200", "empty-200", ["R1.1 not acted on, 200", "R1.1 rotated"]),
    FaultRow(
      name: "the reply is lost, and an API refuses the access token", setting: FaultStage.Setting(),
      play: { stage in
        try stage.misbehave("drop-before-commit")
        try stage.force()
        try stage.ask()
        try stage.reportRejected()
        try stage.ask()
      },
      heard: ["refreshOutcomeUnknown", "A1 offline", "A2", "A2"], ledger: ["R1.1 not acted on", "R1.1 rotated"],
      session: "authenticated"),
    FaultRow(
      name: "the reply comes after the time-out", setting: FaultStage.Setting(lifetime: 23),
      play: { stage in
        try stage.misbehave("hold-after-commit", #","seconds":60"#)
        try stage.force()
        try stage.release()
        try stage.seeDecision()
      },
      heard: ["refreshOutcomeUnknown"] + lost, ledger: spentTwiceAtTheEnd, session: expired),
    FaultRow(
      name: "the reply is dropped, and the backend is away when the token ends", setting: doubtful,
      play: { stage in
        try stage.misbehave("drop-after-commit")
        try stage.force()
        try stage.listen(false)
        try stage.endConnections()
        try stage.requireLife(share: 1)
        stage.awaitTokenEnd()
        try stage.ask()
        try stage.force()
        guard try stage.session() == "offline" else { throw TestFailure("not offline: \(try stage.session())") }
        try stage.listen(true)
        try stage.awaitDecision()
        try stage.ask()
      },
      heard: ["refreshOutcomeUnknown", "refreshOutcomeUnknown", "refreshOutcomeUnknown", "sessionExpired"],
      ledger: spentTwiceAtTheEnd, session: expired),
  ]

  private static func lost(_ name: String, _ fault: String, _ more: String = "") -> FaultRow {
    FaultRow(
      name: name, setting: doubtful,
      play: { stage in
        try stage.misbehave(fault, more)
        try stage.force()
        try stage.seeDecision()
      },
      heard: ["refreshOutcomeUnknown"] + lost, ledger: spentTwiceAtTheEnd, session: expired)
  }

  private static func unspent(_ name: String, _ fault: String, _ ledger: [String]) -> FaultRow {
    FaultRow(
      name: name, setting: doubtful,
      play: { stage in
        try stage.misbehave(fault)
        try stage.force()
        try stage.seeDecision()
      },
      heard: ["refreshOutcomeUnknown"] + saved, ledger: ledger, session: "authenticated")
  }
}

extension FaultStage {
  /// Asks while it is not known what became of the refresh token, and once more when it is.
  func seeDecision() throws {
    try ask()
    try force()
    try ask()
    try requireLife(share: 1)
    try awaitDecision()
    try ask()
  }
}
