import BrokerCore
import BrokerProtocol
import Logging

extension Logger {
  /// Writes where sessions begin and end, and when the vault is locked: what a reader of the log asks first.
  ///
  /// What happens all the time, such as a refresh, has no line; no user is named.
  func write(_ event: BrokerEvent) {
    let (sentence, reason): (StaticString, LogField?)
    var lastWord = ProviderLastWord()
    switch event.payload {
    case .login(let login): (sentence, reason) = ("a session began", .word("method", login.method))
    case .logout(let logout): (sentence, reason) = ("a session was signed out", .word("reason", logout.reason.rawValue))
    case .sessionExpired(let end):
      (sentence, reason) = ("a session ended", .word("reason", end.reason.rawValue))
      lastWord = end.lastWord
    case .vaultLocked: (sentence, reason) = ("the vault was locked", nil)
    case .vaultUnlocked: (sentence, reason) = ("the vault was unlocked", nil)
    default: return
    }
    let profile = event.profile.map { LogField.word("profile", $0.description) }
    let status = lastWord.status.map { LogField.number("status", $0) }
    let error = lastWord.error.map { LogField.word("error", $0) }
    write(.info, sentence, [profile, reason, status, error].compactMap { $0 })
  }
}
