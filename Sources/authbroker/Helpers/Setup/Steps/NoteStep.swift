/// Something that only the user can decide: it is shown and not done.
struct NoteStep: SetupStep {
  /// What to write, and where.
  let text: String

  var title: String { text }

  func state(_ scene: SetupScene) -> SetupState { .manual }

  func install(_ scene: SetupScene) throws(CommandFailure) -> Bool { false }

  func remove(_ scene: SetupScene) throws(CommandFailure) -> Bool { false }
}
