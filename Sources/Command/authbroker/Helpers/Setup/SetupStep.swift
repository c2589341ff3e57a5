/// One thing that makes a tool use its helper: an entry of a file, a setting, a link.
///
/// It knows its own entries again and touches no others, so that it can be done twice, and undone.
///
/// Of classes alone, since Embedded Swift has no other existentials.
protocol SetupStep: AnyObject, Sendable {
  /// The result of the step, in few words.
  var title: String { get }

  /// The step, in words or lines that a person could follow by hand.
  var text: String { get }

  /// Whether it is a mere link of this program's name: a package has those for every tool.
  var isLink: Bool { get }

  /// Whether it has been done.
  func state(_ setup: SetupContext) -> SetupState

  /// Does it, where it has not been done.
  ///
  /// - Returns: whether anything was changed.
  /// - Throws: a failure where what is there cannot be kept; it is left as it was.
  func install(_ setup: SetupContext) throws(CommandFailure) -> Bool

  /// Undoes what ``install(_:)`` did.
  ///
  /// - Returns: whether anything was changed.
  /// - Throws: as ``install(_:)``.
  func remove(_ setup: SetupContext) throws(CommandFailure) -> Bool
}

extension SetupStep {
  /// Most change a tool's configuration.
  var isLink: Bool { false }
}

extension Array where Element: SetupStep {
  /// The same as steps of any kind; a conversion of the whole array is a dynamic cast, which Embedded Swift has not.
  var steps: [any SetupStep] {
    var steps: [any SetupStep] = []
    for step in self { steps.append(step) }
    return steps
  }
}

/// How far a step is.
enum SetupState: Equatable, Sendable {
  /// Done.
  case installed
  /// Not done.
  case missing
  /// Left to the person who reads it.
  case manual
  /// Something of someone else's is in the way: what, as the end of a sentence.
  case blocked(String)
}
