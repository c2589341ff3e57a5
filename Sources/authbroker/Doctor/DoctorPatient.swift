import ClientSocket

/// What the checks look at: the environment, the files, and what the broker answered.
struct DoctorPatient: Sendable {
  /// The command line and the environment.
  let context: Context
  /// Where the files are.
  let paths: StatePaths
  /// What the owner of the state directory says.
  var interview = OwnerInterview()

  /// A patient whose owner was not asked yet.
  init(_ context: Context, _ paths: StatePaths) {
    self.context = context
    self.paths = paths
  }
}
