import BrokerProtocol

/// Checks whether every session is saved, and why one is offline; `authbroker status` says whether the user is logged
/// in.
enum SessionCheck: DoctorCheck {
  static let title = "Sessions"

  static func findings(_ installation: Installation) -> [DoctorFinding] {
    guard let status = installation.report.status, !status.vault.locked else { return [] }
    let sessions = status.profiles
    guard !sessions.isEmpty else { return [] }
    let account = installation.report.firstAccount.map { DoctorFinding("sessions.account", "account", .note, $0) }
    return stored(sessions) + [account].compactMap { $0 }
      + sessions.filter { $0.state == .offline }.map { offline($0, installation.report.events) }
  }

  private static func offline(_ session: Session, _ events: [BrokerEvent]) -> DoctorFinding {
    var finding = DoctorFinding(
      "sessions.offline", session.profile.description, .warning, OfflineSessions.message(for: session, events))
    finding.profile = session.profile.description
    return finding
  }

  private static func stored(_ sessions: [Session]) -> [DoctorFinding] {
    let degraded = sessions.filter { $0.storeDegraded == true }
    guard !degraded.isEmpty else {
      let count = sessions.count.counted("profile")
      return [DoctorFinding("sessions.stored", "saved", .ok, "\(count), all saved")]
    }
    return degraded.map { session in
      var finding = DoctorFinding("sessions.stored", "saved", .error, SessionNotices.unsaved(session))
      finding.profile = session.profile.description
      return finding
    }
  }
}
