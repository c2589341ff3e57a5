import Testing

/// What is no single fault, but many things at once.
enum Storm: String, CaseIterable {
  case randomKills = "kill -9 at random moments of many refreshes"
  case editors = "six serve --stdio at once, kill -9 of the owner in a refresh, six more"
  case starts = "400 clients start at once, no owner, the access token has ended"
  case callers = "10,000 callers at the instant of expiry"
  case mixture = "force, reportRejected and minValiditySeconds, some cancelled, some gone"
  case neighbour = "a dead provider, 10 refreshes of another profile"

  /// Runs one, adds its line to the table, and judges what was risked.
  static func run(
    _ storm: Storm, in room: Room = .shared, _ setting: FaultStage.Setting,
    _ body: @Sendable (FaultStage, Sandbox) throws -> [String]
  ) async throws {
    try await FaultStage.run(in: room, setting) { stage, sandbox in
      var line = FaultMatrix.Line(name: storm.rawValue)
      line.heard = try body(stage, sandbox)
      let ledger = try FaultLedger(stage.backend)
      line.requests = ledger.requests.count
      line.risk = ledger.risk(setting.allowance, end: stage.tokenEnd)
      // Each of many sessions has tokens of its own.
      line.ledger = storm == .randomKills ? FaultMatrix.tally(ledger.uses.map(\.outcome)) : ledger.words
      line.session = try stage.session(SocketWire(sandbox.socket))
      FaultMatrix.shared.add(line)
      #expect(line.risk <= 1)
    }
  }
}
