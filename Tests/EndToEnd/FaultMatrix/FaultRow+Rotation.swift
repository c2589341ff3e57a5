/// The backend does not rotate, or takes a spent token once more for a while: then a lost reply loses nothing.
extension FaultRow {
  private static let fixed = FaultStage.Setting(backend: ["--rotation", "never"], allowance: .always)
  private static let configured = FaultStage.Setting(
    backend: ["--rotation", "never"], profile: "rotation: \"never\"", allowance: .always)
  /// The token outlives the grace.
  private static let graceful = FaultStage.Setting(
    lifetime: 9, backend: ["--rotation", "grace", "--set", "rotationGraceSeconds=5"],
    profile: "rotationGraceSeconds: 5", allowance: .onceInGrace)

  static let rotations: [FaultRow] = [
    FaultRow(
      name: "no rotation, as configured: the reply is dropped", setting: configured,
      play: { stage in
        try stage.misbehave("drop-after-commit")
        try stage.force()
        try stage.ask()
        try stage.awaitDecision()
        try stage.ask()
      },
      heard: ["networkUnavailable", "A1 offline", "A2"], ledger: ["R1.1 unchanged"], session: "authenticated"),
    FaultRow(
      name: "no rotation, as learnt: the reply is dropped", setting: fixed,
      play: { stage in
        for _ in 1...3 { try stage.force() }
        try stage.misbehave("drop-after-commit")
        try stage.force()
        try stage.ask()
        try stage.awaitEvent(["refreshFailed"])
        try stage.awaitDecision()
        try stage.ask()
      },
      heard: ["A2", "A3", "A4", "networkUnavailable", "A4 offline", "A5"], ledger: ["R1.1 unchanged"],
      session: "authenticated"),
    FaultRow(
      name: "no rotation, as configured: kill -9 before the reply", setting: configured,
      play: { stage in
        try stage.misbehave("hold-after-commit")
        try stage.killWhileHeld()
        try stage.ask()
        try stage.force()
      },
      heard: ["A1", "A2"], ledger: ["R1.1 unchanged"], session: "authenticated"),
    FaultRow(
      name: "no rotation, as learnt: kill -9 before the reply", setting: fixed,
      play: { stage in
        // Three replies in a row are a habit; what is only learnt is not relied on after a crash.
        for _ in 1...3 { try stage.force() }
        try stage.misbehave("hold-after-commit")
        try stage.killWhileHeld()
        try stage.ask()
        try stage.force()
      },
      heard: ["A2", "A3", "A4", "A4 offline", "refreshOutcomeUnknown"], ledger: ["R1.1 unchanged"], session: "offline"),
    FaultRow(
      name: "a grace: the reply is dropped", setting: graceful,
      play: { stage in
        try stage.misbehave("drop-after-commit")
        try stage.force()
        try stage.force()
      },
      heard: ["A2", "A3"], ledger: ["R1.1 rotated", "R1.1 replayedInGrace", "R1.2 rotated"],
      session: "authenticated"),
    FaultRow(
      name: "a grace: kill -9 before the reply", setting: graceful,
      play: { stage in
        try stage.misbehave("hold-after-commit")
        try stage.killWhileHeld()
        try stage.awaitToken(after: "A1")
      },
      heard: ["A2"], ledger: ["R1.1 rotated", "R1.1 replayedInGrace"], session: "authenticated"),
    FaultRow(
      name: "a grace: the reply is dropped, kill -9 before that of the replay", setting: graceful,
      play: { stage in
        try stage.misbehave("drop-after-commit")
        try stage.misbehave("hold-after-commit")
        try stage.killWhileHeld()
        try stage.seeDecision()
      },
      heard: lost, ledger: ["R1.1 rotated", "R1.1 replayedInGrace", "R1.1 replayDetected"], session: expired),
    FaultRow(
      name: "a grace: the reply is dropped, and that of the replay", setting: graceful,
      play: { stage in
        try stage.misbehave("drop-after-commit", #","times":2"#)
        try stage.force()
        try stage.seeDecision()
      },
      heard: ["refreshOutcomeUnknown"] + lost,
      ledger: ["R1.1 rotated", "R1.1 replayedInGrace", "R1.1 replayDetected"], session: expired),
  ]
}
