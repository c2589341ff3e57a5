import BrokerCore
import BrokerProtocol
import ProviderKit

/// Whether a provider knows the client, as far as that shows without a login.
extension OIDCProvider {
  /// A refresh token that no provider has issued; its text explains itself to the reader of a log.
  private static let madeUpToken = "authbroker-provider-check-is-no-token"

  /// Whether what the client shows can be had; nil where it shows nothing but its name.
  func examineProof() async -> ProviderFinding? {
    guard let setting = proofSetting else { return nil }
    do throws(ProviderFailure) {
      _ = try await caller.authenticator.proof(for: nil)
      return .secret(setting, Result<Void, ProviderFailure>.success(()))
    } catch { return .secret(setting, Result<Void, ProviderFailure>.failure(error)) }
  }

  /// The key of the configuration for what the client shows; nil where it shows nothing but its name.
  private var proofSetting: String? {
    switch clientAuthentication {
    case .basic, .post: "clientSecret"
    case .privateKeyJWT: "privateKey"
    case .assertion: "clientAssertion"
    case .none: nil
    }
  }

  /// Requests tokens with a refresh token that was never issued.
  ///
  /// A token endpoint authenticates the client before it examines the grant (RFC 6749, sections 3.2.1 and 5.2), so the
  /// error's name shows whether it knows the client. Nothing changes by that.
  func examineClient() async -> ProviderFinding? {
    let check = "client"
    let code: String?
    do throws(ProviderFailure) {
      let form: TokenCaller.Form = [
        ("grant_type", .text("refresh_token")), ("refresh_token", .text(Self.madeUpToken)),
      ]
      code = try await ask(.takeOver, try await endpoint(.token), form).refusal?.code
    } catch { return nil }
    switch code {
    case "invalid_grant": return ProviderFinding(check, .ok, "the provider knows the client")
    case "invalid_client":
      return ProviderFinding(
        check, .failure, "The provider rejected the client or what it shows (invalid_client).",
        advice: "Check clientId in the profile's section, then \(proofSetting ?? "clientSecret") and clientAuth.",
        errorKind: .providerRejected)
    default:
      return ProviderFinding(check, .note, "Only a login shows whether the provider knows the client.")
    }
  }
}
