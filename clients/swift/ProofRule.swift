import BrokerProtocol
import JSON

/// For which refusals a client proves access to the state directory.
///
/// Never for a token: whatever answers on a socket learns from such a call only what it has been told.
enum ProofRule {
  /// Whether a refusal may be answered with a proof.
  ///
  /// - Parameters:
  ///   - refusal: the broker's error, which carries a proof.
  ///   - method: the method that was called.
  ///   - params: what it was called with; for `logout` they decide.
  /// - Returns: false for every other method and every other refusal.
  static func admits(_ refusal: BrokerError, of method: String, _ params: some JSONEncodable) -> Bool {
    switch refusal.kind {
    case .accessDenied: isAdministrative(method, params)
    case .reauthRequired: changesAccount(method)
    default: false
    }
  }

  private static func isAdministrative(_ method: String, _ params: some JSONEncodable) -> Bool {
    switch method {
    case Rekey.name, Lock.name, ReloadConfiguration.name, StopBroker.name, CheckVault.name, TryProvider.name,
      ContinueTrial.name:
      true
    case Logout.name: isForAll(params)
    default: method.includes("Local")
    }
  }

  /// Methods that want a recent login, which a proof takes the place of.
  private static func changesAccount(_ method: String) -> Bool {
    switch method {
    case Login.name, Register.name, UpdateProfile.name, GenerateBackupCodes.name, CompleteLogin.name: true
    default: false
    }
  }

  private static func isForAll(_ params: some JSONEncodable) -> Bool {
    var writer = JSONWriter()
    params.encode(to: &writer)
    return (try? JSONDocument(parsing: writer.bytes).root)?["all"]?.kind == .true
  }
}
