import BrokerCore
import BrokerProtocol
import Logging

extension Logger {
  /// Logs a problem for the administrator.
  func write(_ problem: BrokerNotice.Problem) {
    switch problem {
    case .storeTampered(let profile?):
      error("a record in the vault has been modified", .word("profile", profile.description))
    case .storeTampered(nil): error("the vault has been modified: run `authbroker doctor`")
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
}
