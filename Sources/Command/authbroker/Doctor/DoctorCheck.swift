/// One group of the doctor's checks.
///
/// A new group is one more type in the list of ``DoctorCommand``. It changes nothing on the machine.
protocol DoctorCheck {
  /// The heading in the table.
  static var title: String { get }

  /// Runs the check, and returns its findings.
  static func findings(_ installation: Installation) -> [DoctorFinding]
}
