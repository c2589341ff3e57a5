import HTTP
import LinuxSystem
import Synchronization

/// The place of one provider's metadata, and the way to it: profiles that agree in it share a search.
private struct DiscoveryPlace: Equatable {
  let dialect: OIDCDialect
  let policy: TLSPolicy
  // A search that lives holds its client, so that no other one has its name.
  let client: ObjectIdentifier

  init(_ dialect: OIDCDialect, _ client: HTTPClient, _ policy: TLSPolicy) {
    // Type, scopes and methods change nothing of where a provider is.
    var place = OIDCDialect(type: "", issuer: dialect.issuer, scopes: [], methods: [])
    place.usesDiscovery = dialect.usesDiscovery
    place.endpoints = dialect.endpoints
    place.quirks.issuerRule = dialect.quirks.issuerRule
    place.quirks.otherIssuers = dialect.quirks.otherIssuers
    place.quirks.readsOAuthFirst = dialect.quirks.readsOAuthFirst
    self.dialect = place
    self.policy = policy
    self.client = ObjectIdentifier(client)
  }
}

/// A search that profiles have, and where it looks.
private struct KnownDiscovery {
  let place: DiscoveryPlace
  weak var discovery: Discovery?
}

/// Searches that some profile has, by issuer.
private let knownDiscoveries = Mutex<[String: [KnownDiscovery]]>([:])

extension Discovery {
  /// The search that all profiles of one provider share, so that its metadata are read once for all of them.
  ///
  /// - Throws: as ``init(_:_:_:)``.
  static func shared(
    _ dialect: OIDCDialect, _ client: HTTPClient, _ policy: TLSPolicy
  ) throws(HTTPFailure) -> Discovery {
    let place = DiscoveryPlace(dialect, client, policy)
    let known = knownDiscoveries.withLock { known in
      known[dialect.issuer]?.lazy.filter { $0.place == place }.compactMap(\.discovery).first
    }
    if let known { return known }
    let discovery = try Discovery(dialect, PublicTransport(client, policy: policy)) { BootClock.now }
    knownDiscoveries.withLock { known in
      known[dialect.issuer, default: []].removeAll { $0.discovery == nil }
      known[dialect.issuer, default: []].append(KnownDiscovery(place: place, discovery: discovery))
    }
    return discovery
  }
}
