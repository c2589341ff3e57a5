import BrokerCore
package import BrokerProtocol
import HTTP
import ProviderKit
import SecretMemory

/// The examination of a project.
extension FirebaseProvider {
  /// Asks both services whether they are there, and one of them to look up an account with a token that is none: a key
  /// that is not accepted is refused before that, and nothing is changed.
  package func examine() async -> [ProviderFinding] {
    let accounts = await probe().findings
    guard !accounts.contains(where: { $0.level == .failure }) else {
      return accounts + [await missingKey()].compactMap(\.self)
    }
    let tokens = await ProbeExchange(HTTPRequest(.get, caller.url(.token)), caller.transport, clock: clock).probe(
      "baseUrl")
    return accounts + [Self.refreshes(tokens), await key()]
  }

  private static func refreshes(_ probe: ProviderProbe) -> ProviderFinding {
    guard let first = probe.findings.first, first.level == .failure else {
      return ProviderFinding("service.token", .ok, "\(probe.place?.host ?? "the service"), which refreshes, answers")
    }
    return ProviderFinding("service.token", .failure, first.message, advice: first.advice, errorKind: first.errorKind)
  }

  /// The finding for a key that cannot be read; nil for one that can.
  private func missingKey() async -> ProviderFinding? {
    let source = await caller.apiKey()
    guard case .failure = source else { return nil }
    return .secret("apiKey", source)
  }

  private func key() async -> ProviderFinding {
    let check = "apiKey"
    do throws(ProviderFailure) {
      guard let none = try? Secret(utf8: "not-a-token") else { throw .transient(.overloaded) }
      try await caller.ask(.lookup, [("idToken", .secret(none))]).expectSuccess()
    } catch .tokenRefused {
      return ProviderFinding(check, .ok, "the API key is accepted")
    } catch .credentialMissing(let credential) {
      return .secret(check, Result<Secret, ProviderFailure>.failure(.credentialMissing(credential)))
    } catch {
      switch error.kind {
      case .providerRejected:
        return ProviderFinding(
          check, .failure, "The API key or its project is rejected.",
          advice: "Compare apiKey with the project's settings, its restrictions included; is Authentication set up?",
          errorKind: .providerRejected)
      default:
        return ProviderFinding(
          check, .warning, "The API key could not be checked: \(error.kind.message)", errorKind: error.kind)
      }
    }
    return ProviderFinding(
      check, .warning, "A made-up token is accepted.", advice: "Check baseUrl: this is not the expected service."
    )
  }
}
