package import BrokerCore
package import BrokerProtocol
import HTTP
import ProviderKit

/// The examination of a resource and of the authorization server that it names, step by step.
extension ResourceProvider {
  /// Sends one request to the resource, which refuses it.
  package func probe() async -> ProviderProbe {
    guard let url = try? HTTPURL(configuration.dialect.issuer) else { return .nothingToReach }
    return await ProbeExchange(HTTPRequest(.get, url), transport, clock: clock).probe("resource")
  }

  /// Whether it is an address at which sessions are made, changed or ended.
  package func issues(at address: TargetAddress) -> Bool {
    knownDiscoveries.contains { address.isAny(of: $0.tokenAddresses) }
  }

  /// Tells which documents were read, whose tokens they lead to, how the client is known there, and which scopes are asked
  /// for.
  package func examine() async -> [ProviderFinding] {
    let reachable = await probe().findings
    guard !reachable.contains(where: { $0.level == .failure }) else { return reachable }
    let metadata: ResourceMetadata
    do throws(ResourceDiscovery.Failure) { metadata = try await search.metadata() } catch {
      return reachable + [Self.missing(error)]
    }
    let found = reachable + [Self.document(metadata), issuer(metadata)]
    guard let issuer = plan.issuer ?? metadata.issuers.first, metadata.issuers.contains(issuer) else { return found }
    return found + (await examine(metadata, at: issuer))
  }

  private static func missing(_ failure: ResourceDiscovery.Failure) -> ProviderFinding {
    ProviderFinding(
      "resource", .failure, "No authorization server was found: \(SanitizedText(failure.message).text).",
      advice: failure.isPassing ? "Wait, or ask its operator." : "Check resource in the profile's section.",
      errorKind: failure.isPassing ? failure.cause.map { ErrorKind($0) } ?? .providerUnavailable : .configInvalid)
  }

  private static func document(_ metadata: ResourceMetadata) -> ProviderFinding {
    let (address, name) = (SanitizedText(metadata.address).text, SanitizedText(metadata.resource).text)
    return ProviderFinding("resource", .ok, "\(address) describes the resource \(name)")
  }

  private func issuer(_ metadata: ResourceMetadata) -> ProviderFinding {
    let check = "resource.issuer"
    let named = metadata.issuers.map { SanitizedText($0).text }.joined(separator: ", ")
    guard let wanted = plan.issuer else {
      let first = SanitizedText(metadata.issuers.first ?? "").text
      guard metadata.issuers.count > 1 else {
        return ProviderFinding(check, .ok, "it names the authorization server \(first)")
      }
      return ProviderFinding(
        check, .note, "It names several authorization servers; the first one is used: \(named).",
        advice: "To use another one, write in the profile's section: issuer: \"…\"")
    }
    guard metadata.issuers.contains(wanted) else {
      return ProviderFinding(
        check, .failure, "It does not name the configured issuer, but: \(named).",
        advice: "Correct issuer in the profile's section, or remove it.", errorKind: .configInvalid)
    }
    return ProviderFinding(check, .ok, "it names the configured issuer \(SanitizedText(wanted).text)")
  }

  /// The findings about the authorization server, and about the client there.
  private func examine(_ metadata: ResourceMetadata, at issuer: String) async -> [ProviderFinding] {
    let features: ServerFeatures?
    let provider: OIDCProvider
    let client = TokenClient(issuer: issuer, id: configuration.clientID, resource: metadata.resource)
    do throws(ProviderFailure) {
      features = try? await discovery(of: issuer).features()
      let scopes = Place(metadata: metadata, issuer: issuer, features: features ?? ServerFeatures())
        .scopes(configuration.dialect.scopes)
      provider = try self.provider(of: client, nil) { $0.dialect.scopes = scopes }
    } catch { return [] }
    // Whether a client is known has a finding of its own.
    let document = await provider.examineDocument().filter { !["clientAuth"].contains($0.check) }
    guard let features, !document.contains(where: { $0.level == .failure }) else { return document }
    return document + [scopes(provider.dialect.scopes, metadata)] + (await examineClient(issuer, client, features))
  }

  private func scopes(_ scopes: [String], _ metadata: ResourceMetadata) -> ProviderFinding {
    let list = scopes.map { SanitizedText($0).text }.joined(separator: " ")
    let source =
      if !configuration.dialect.scopes.isEmpty {
        "as the profile says"
      } else if metadata.hasRefusalsScopes {
        "as the resource's refusal says"
      } else { "as the resource's document says" }
    return ProviderFinding(
      "resource.scopes", .ok, scopes.isEmpty ? "no scopes are asked for: none are named" : "asks for \(list), \(source)"
    )
  }

  private func examineClient(
    _ issuer: String, _ client: TokenClient, _ features: ServerFeatures
  ) async -> [ProviderFinding] {
    let check = "client"
    if !configuration.clientID.isEmpty {
      let known = try? await provider(of: client).examineClient()
      return [ProviderFinding(check + ".known", .ok, "the client is the configured one")]
        + [known ?? nil].compactMap(\.self)
    }
    if let address = plan.clientMetadataURL, features.takesClientDocuments {
      return [ProviderFinding(check, .ok, "the client is known by its document: \(SanitizedText(address).text)")]
    }
    let registered: RegisteredClient?
    do throws(ProviderFailure) { registered = try await clients.client(at: issuer, now: clock()) } catch {
      return [ProviderFinding(check, .note, "The registered clients cannot be read now.")]
    }
    if let registered {
      let id = SanitizedText(registered.id).text
      return [ProviderFinding(check, .ok, "the client \(id) was registered at \(registered.registeredAt)")]
    }
    if features.registration != nil {
      return [ProviderFinding(check, .ok, "a client will be registered at the first login (RFC 7591)")]
    }
    return [
      ProviderFinding(
        check, .failure, "The authorization server registers no clients by itself (registration_endpoint).",
        advice: "Register one there and write in the profile's section: clientId: \"…\"", errorKind: .configInvalid)
    ]
  }
}
