/// A group of things that the doctor looks at.
///
/// A new group is one more type in the list of ``DoctorCommand``. It changes nothing on the machine.
protocol DoctorCheck {
  /// The heading in the table.
  static var title: String { get }

  /// Looks, and says what it saw.
  static func findings(_ patient: DoctorPatient) -> [DoctorFinding]
}
