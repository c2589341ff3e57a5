internal import JSON

extension SchemaNotes.Member {
  /// The parameter by which nearly every method is told which profile is meant.
  static let profile: Self = "The only configured one where absent, else default."

  /// The member in which a login's own words come back.
  static let clientContext: Self = "The parameter clientContext of the login, as it was given."
}
