/// Something that only the user can decide: it is shown and not done.
final class NoteStep: SetupStep {
  /// The lines to write, and their place.
  let text: String

  /// A note.
  init(text: String) { self.text = text }

  var title: String { text }

  func state(_ setup: SetupContext) -> SetupState { .manual }

  func install(_ setup: SetupContext) throws(CommandFailure) -> Bool { false }

  func remove(_ setup: SetupContext) throws(CommandFailure) -> Bool { false }
}
