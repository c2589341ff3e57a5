import Testing

/// One row of the fault matrix: what goes wrong in the middle of a refresh, and what must come of it.
struct FaultRow: Sendable, CustomTestStringConvertible {
  /// What goes wrong.
  let name: String
  /// On what kind of backend, by what profile.
  var setting = FaultStage.Setting()
  /// What is done, after a login; the client's questions are noted as they come.
  let play: @Sendable (FaultStage) throws -> Void
  /// What the client must get, in order.
  let heard: [String]
  /// What must become of each refresh token that arrives at the backend.
  let ledger: [String]
  /// Where the session must stand at last.
  let session: String

  var testDescription: String { name }

  /// A token that may be spent is out of doubt after the access token's end, which a test must live to see.
  static let doubtful = FaultStage.Setting(lifetime: 6)

  /// All of them.
  static let all = kills + lostReplies + refusals + rotations
}
