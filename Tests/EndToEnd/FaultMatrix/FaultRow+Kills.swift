import LinuxSystem

/// The broker is killed at each step of a refresh, started again, and asked for a token.
extension FaultRow {
  static let kills: [FaultRow] = [
    FaultRow(
      name: "kill -9 before the intent is durable",
      play: { stage in
        try stage.fillDisk()
        try stage.force()
        stage.kill()
        try stage.restart()
        try stage.ask()
        try stage.force()
      },
      heard: ["storeFailed", "A1", "A2"], ledger: ["R1.1 rotated"], session: "authenticated"),
    FaultRow(
      name: "kill -9 after the intent, before a byte is sent",
      setting: FaultStage.Setting(lifetime: 6, usesTLS: true),
      play: { stage in
        // The handshake of TLS is not answered, so no request can be sent.
        try stage.misbehave("stall-at-accept")
        try stage.endConnections()
        try stage.killWhileHeld()
        try stage.seeDecision()
      },
      heard: saved, ledger: ["R1.1 rotated"], session: "authenticated"),
    FaultRow(
      name: "kill -9 while the backend has read the request, which it then forgets", setting: doubtful,
      play: { stage in
        try stage.misbehave("hold-then-forget")
        try stage.killWhileHeld()
        try stage.seeDecision()
      },
      heard: saved, ledger: ["R1.1 not acted on", "R1.1 rotated"], session: "authenticated"),
    FaultRow(
      name: "kill -9 while the backend has read the request, which it then acts on", setting: doubtful,
      play: { stage in
        try stage.misbehave("hold-before-commit")
        try stage.killWhileHeld()
        try stage.seeDecision()
      },
      heard: lost, ledger: spentTwiceAtTheEnd, session: expired),
    FaultRow(
      name: "kill -9 after the rotation, before the reply", setting: doubtful,
      play: { stage in
        try stage.misbehave("hold-after-commit")
        try stage.killWhileHeld()
        try stage.seeDecision()
      },
      heard: lost, ledger: spentTwiceAtTheEnd, session: expired),
    FaultRow(
      name: "kill -9 after the reply, before the save", setting: doubtful,
      play: { stage in
        try stage.misbehave("hold-after-commit")
        let wire = try stage.beginForce()
        try stage.awaitHeld()
        try stage.fillDisk()
        try stage.release()
        // The reply is here: it is served, though it cannot be saved.
        try stage.finish(wire)
        stage.kill()
        try stage.restart()
        try stage.seeDecision()
      },
      heard: ["A2"] + lost, ledger: spentTwiceAtTheEnd, session: expired),
    FaultRow(
      name: "kill -9 after the save",
      play: { stage in
        try stage.force()
        stage.kill()
        try stage.restart()
        try stage.ask()
        try stage.force()
      },
      heard: ["A2", "A2", "A3"], ledger: ["R1.1 rotated", "R1.2 rotated"], session: "authenticated"),
  ]
}

extension FaultStage {
  /// Kills the broker while the backend holds its request, and starts it again when the backend has let go.
  func killWhileHeld() throws {
    let (wire, began) = (try beginForce(), BootClock.now)
    try awaitHeld()
    kill()
    // No connection is waited for longer than 5 s.
    guard BootClock.now - began < .seconds(4) else { throw TooSlow() }
    guard try wire.next() == nil else { throw TestFailure("a killed broker has answered") }
    try release()
    try restart()
  }
}
