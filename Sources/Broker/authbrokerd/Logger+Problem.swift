import BrokerCore
import BrokerProtocol
import Logging

extension Logger {
  /// Logs a notice of the broker that is for the administrator.
  func write(_ notice: BrokerNotice) {
    switch notice {
    case .problem(let problem): write(problem)
    case .audit(let notice): write(notice)
    case .answer, .used, .subscribed, .missed, .delivery, .told, .consentAsked, .consentDecided, .locked, .idle: break
    }
  }

  /// Logs a problem for the administrator.
  func write(_ problem: BrokerNotice.Problem) {
    switch problem {
    case .storeTampered(let profile?):
      error("a record in the vault has been modified", .word("profile", profile.description))
    case .storeTampered(nil): error("the vault has been modified: run `authbroker doctor`")
    case .storeRolledBack(let profile):
      error(
        "a shared session is older in the database than it was, and is not refreshed any more: log in again",
        .word("profile", profile.description))
    case .revocationGivenUp(let profile):
      warning("a revocation expired before the provider answered", .word("profile", profile.description))
    case .loginFailed(let profile, let error):
      write(
        .info, "a login failed",
        [
          .word("profile", profile.description), .word("kind", error.kind.rawValue), .word("reason", error.message),
        ])
    case .parked(let profile, let end):
      notice(
        "the configuration signed a profile out: its session is kept; restore the profile or run `authbroker logout -p`",
        .word("profile", profile.description), .word("until", end.description))
    case .parkedEnded(let profile): notice("a kept session has ended", .word("profile", profile.description))
    case .notSaved(let profile):
      error(
        "the vault cannot be written: the newest state of a session is in memory alone",
        .word("profile", profile.description))
    case .saved(let profile): notice("the newest state of a session is saved", .word("profile", profile.description))
    case .sequencesNotReserved: error("the vault cannot be written: sequences may repeat after a crash")
    case .clockSkewed(let profile, let skew?):
      warning(
        "the clocks of the provider and this machine differ: set the clock",
        .word("profile", profile.description), .number("aheadSeconds", Int(skew.components.seconds)))
    case .clockSkewed(let profile, nil):
      notice("the clocks of the provider and this machine agree again", .word("profile", profile.description))
    }
  }

  /// Logs the heads of the audit, by which it can be verified later, and where it cannot be written.
  func write(_ audit: AuditNotice) {
    switch audit {
    case .head(let head): notice("audit", .number("entry", head.number), .word("head", head.text))
    case .notWritten: error("the audit cannot be written: entries are kept in memory as long as there is room")
    case .written: notice("the audit is written again")
    }
  }
}
