import BrokerCore
package import ConfigurationFile
import ProviderKit
import SecretMemory

/// An account at a server that sends messages: a user, and the reference to the user's password.
package struct DeliveryAccount: Sendable, Equatable {
  /// The user's name.
  package let user: String
  /// The reference to the password.
  package let passwordReference: SecretReference

  /// Reads `user` and `password`, which need each other; nil where they are absent or faulty.
  static func read(_ section: inout ConfigurationSection) -> DeliveryAccount? {
    let user = section.word("user")
    let password = SecretReference.read("password", in: &section)
    if section.has("user") { section.require("password", "write where it is: \(SecretReference.forms)") }
    if section.has("password") { section.require("user") }
    guard let user, let password else { return nil }
    return DeliveryAccount(user: user, passwordReference: password)
  }

  /// Finds the password.
  func password(_ secrets: SecretFinder) async throws(DeliveryFailure) -> Secret {
    do throws(ProviderFailure) { return try await secrets(passwordReference).get() } catch {
      if case .transient = error { throw .unreachable("the password for delivery cannot be read now") }
      throw .refused("the password for delivery cannot be read; check password in local.delivery")
    }
  }
}
