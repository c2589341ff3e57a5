/// A file that may hold this program's entries and cannot be read: what is in it is not known, and says so.
final class UnreadableStep: SetupStep {
  /// Why it cannot be read.
  let failure: CommandFailure

  /// A file of which this is known.
  init(_ failure: CommandFailure) { self.failure = failure }

  var title: String { "what authbroker has there" }

  var text: String { failure.message.sentence }

  func state(_ setup: SetupContext) -> SetupState { .blocked(failure.message.sentence) }

  func install(_ setup: SetupContext) throws(CommandFailure) -> Bool { throw failure }

  func remove(_ setup: SetupContext) throws(CommandFailure) -> Bool { throw failure }
}
