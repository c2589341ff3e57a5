internal import JSON

extension SchemaNotes.Member {
  /// The parameter by which nearly every method is told which profile is meant.
  static let profile: Self = "The only configured one where absent, else default."
}
