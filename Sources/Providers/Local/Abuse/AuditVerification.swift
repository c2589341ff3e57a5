/// How far the verification of the audit has come.
///
/// It concerns the records that were there when it began, which are never changed: other work may go on in between.
struct AuditVerification: Equatable {
  /// The end of the chain when it began.
  let end: AuditHead
  /// The last record that was verified.
  var last = AuditHead.start
  /// Whether everything so far is as it was written.
  var isIntact: Bool
  /// Whether nothing is left to be verified.
  var isFinished: Bool { !isIntact || last.number >= end.number }
}
