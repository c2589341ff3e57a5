import TestSupport
import Testing

/// Whatever goes wrong in the middle of a refresh: no refresh token is sent twice while anything could be lost by it,
/// and no session is lost but the one whose token was rotated and whose reply nobody got.
///
/// The backend ends a session whose refresh token comes twice, and its ledger tells what it did, whatever the broker was
/// told.
@Suite(.standardTimeLimit) struct FaultMatrixTests {
  @Test(arguments: FaultRow.all)
  func `no fault costs a session that can be kept`(_ row: FaultRow) async throws {
    try await FaultStage.run(in: .forMatrix, row.setting) { stage, _ in try Self.play(row, stage) }
  }

  private static func play(_ row: FaultRow, _ stage: FaultStage) throws {
    do { try row.play(stage) } catch let failure as TestFailure {
      Issue.record("\(failure) after \(stage.answers.words)")
    }
    let ledger = try FaultLedger(stage.backend)
    let line = FaultMatrix.Line(
      name: row.name, requests: ledger.requests.count, risk: ledger.risk(row.setting.allowance, end: stage.tokenEnd),
      ledger: ledger.words, heard: stage.answers.words, session: try stage.session())
    FaultMatrix.shared.add(line)
    #expect(line.risk <= 1)
    // A token that was perhaps spent by the broker itself is no sign of a thief.
    #expect(!stage.events.contains("securityAlert"))
    #expect(line.heard == row.heard)
    #expect(line.ledger == row.ledger)
    #expect(line.session == row.session)
  }
}
