/// Something that only the user can decide: it is shown and not done.
struct NoteStep: SetupStep {
  /// What to write, and where.
  let text: String

  var title: String { text }

  func state(_ setup: SetupContext) -> SetupState { .manual }

  func install(_ setup: SetupContext) throws(CommandFailure) -> Bool { false }

  func remove(_ setup: SetupContext) throws(CommandFailure) -> Bool { false }
}
