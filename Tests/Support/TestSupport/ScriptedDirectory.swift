package import BrokerCore
package import BrokerProtocol
package import SecretMemory
import Synchronization

/// A directory of accounts that always says the same, and notes what it was asked.
package final class ScriptedDirectory: AccountDirectory {
  private struct State {
    var calls: [String] = []
    var failure: ProviderFailure?
  }

  private static let time = Timestamp(milliseconds: 1_772_355_600_000)

  private let state = Mutex(State())

  package let binding = ProviderBinding(type: "scripted")

  package init() {}

  /// What was asked, in order.
  package var calls: [String] { state.withLock { $0.calls } }

  /// Fails every call from now on; nil: none any more.
  package func fail(with failure: ProviderFailure?) { state.withLock { $0.failure = failure } }

  private func note(_ call: String) throws(ProviderFailure) {
    try state.withLock { state throws(ProviderFailure) in
      state.calls.append(call)
      if let failure = state.failure { throw failure }
    }
  }

  private static func user(_ email: String, isDisabled: Bool = false) -> LocalUser {
    LocalUser(
      id: "user-1", email: email, emailVerified: false, twoFactor: .off, isDisabled: isDisabled, createdAt: time,
      sessionCount: 2)
  }

  package func users() async throws(ProviderFailure) -> [LocalUser] {
    try note("users")
    return [Self.user("a@example.test")]
  }

  package func addUser(_ registration: Registration) async throws(ProviderFailure) -> LocalUser {
    let password = registration.password.revealedString() ?? ""
    try note("addUser \(registration.email) \(password) \(registration.name ?? "-") \(registration.phoneNumber ?? "-")")
    return Self.user(registration.email)
  }

  package func setEnabled(_ isEnabled: Bool, user: String) async throws(ProviderFailure) -> LocalUser {
    try note("setEnabled \(isEnabled) \(user)")
    return Self.user("a@example.test", isDisabled: !isEnabled)
  }

  package func reset(
    _ user: String, password: Secret?, removesFactor: Bool
  ) async throws(ProviderFailure) -> LocalUser {
    try note("reset \(user) \(password?.revealedString() ?? "-") \(removesFactor)")
    return Self.user("a@example.test")
  }

  package func delete(_ user: String) async throws(ProviderFailure) -> String {
    try note("delete \(user)")
    return "user-1"
  }

  package func sessions(of user: String?) async throws(ProviderFailure) -> [LocalSession] {
    try note("sessions \(user ?? "-")")
    return [
      LocalSession(
        id: "session-1", user: "user-1", scopes: ["a"], createdAt: Self.time, lastUsedAt: Self.time,
        expiresAt: Self.time, methods: ["pwd"])
    ]
  }

  package func revokeSessions(
    of user: String?, session: String?
  ) async throws(ProviderFailure) -> (count: Int, user: String) {
    try note("revokeSessions \(user ?? "-") \(session ?? "-")")
    return (2, "user-1")
  }

  package func revokeAllSessions() async throws(ProviderFailure) -> Int {
    try note("revokeAllSessions")
    return 3
  }

  package func messages() async throws(ProviderFailure) -> [LocalMessage] {
    try note("messages")
    do {
      return [
        LocalMessage(
          number: 1, recipient: "+491", method: .sms, subject: "S", body: try Secret(utf8: "It is 000000."),
          code: try Secret(utf8: "000000"), createdAt: Self.time, expiresAt: Self.time)
      ]
    } catch { throw .transient(.overloaded) }
  }

  package func keySet() async throws(ProviderFailure) -> [JSONWebKey] {
    try note("keySet")
    return [JSONWebKey(keyID: "key-1", publicKey: "x")]
  }

  package func rotateSigningKey() async throws(ProviderFailure) -> [JSONWebKey] {
    try note("rotateSigningKey")
    return [JSONWebKey(keyID: "key-2", publicKey: "y"), JSONWebKey(keyID: "key-1", publicKey: "x")]
  }

  package func introspect(_ token: Secret) async throws(ProviderFailure) -> TokenIntrospection {
    try note("introspect \(token.revealedString() ?? "")")
    return TokenIntrospection(isActive: false)
  }

  package func audit(
    since: Int?, limit: Int
  ) async throws(ProviderFailure) -> (records: [LocalAuditRecord], isIntact: Bool) {
    try note("audit \(since.map(String.init) ?? "-") \(limit)")
    return ([LocalAuditRecord(number: 7, time: Self.time, event: "login")], true)
  }
}
