import BrokerCore
import BrokerProtocol
import HTTP
import LinuxSystem
import ProviderKit
import Synchronization

/// Finds a provider's endpoints and remembers them for a while.
///
/// Addresses of the configuration hold in every case. Then comes the document of OpenID Connect Discovery; only if it
/// lacks a wanted endpoint, that of RFC 8414 is read too. A failed search is not remembered: the next use searches
/// again.
actor Discovery {
  /// How long documents hold: providers change them rarely, and announce nothing.
  private static let longestAge = Duration.seconds(6 * 3600)
  /// How long the metadata hold where they cannot be read again: a provider's other endpoints may work all the same.
  private static let longestOutage = Duration.seconds(24 * 3600)
  /// How long the metadata hold even if one of their endpoints is not there: a minute of outage costs one search.
  private static let shortestAge = Duration.seconds(60)
  private static let openIDPath = "/.well-known/openid-configuration"
  private static let oauthPath = "/.well-known/oauth-authorization-server"

  /// The discovered metadata, and whether all documents were looked for.
  private struct Known {
    var metadata: ProviderMetadata
    var isComplete: Bool
    var since: Duration
    /// Whether something that it says was found wrong.
    var isDoubted = false

    /// Whether nothing needs to be read again.
    func isFresh(at now: Duration) -> Bool { !isDoubted && now - since < Discovery.longestAge }
    /// Whether the metadata may still be used where they cannot be read again.
    func isUsable(at now: Duration) -> Bool { now - since < Discovery.longestOutage }
  }

  /// The outcome of reading one document.
  private enum Document {
    case found(ProviderMetadata)
    /// There is none.
    case absent
    /// Something that is no such document.
    case unusable
    /// One of another issuer, which must not be used (RFC 8414, section 3.3).
    case foreign
  }

  /// The thread of all searches: it only waits and reads short documents.
  ///
  /// The global pool is not used: where no more threads are allowed, it blocks its caller until there is one.
  private static let worker = WorkerThread(name: "discovery")

  /// The executor that the actor runs on.
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    // The executor lives as long as the process.
    unsafe Self.worker.asUnownedSerialExecutor()
  }

  /// The address of the first document, which a probe asks for.
  nonisolated let firstDocument: HTTPURL
  private nonisolated let configured: [OIDCEndpoint: HTTPURL]
  /// The dialect of the provider.
  nonisolated let dialect: OIDCDialect
  private let transport: PublicTransport
  private let uptime: @Sendable () -> Duration
  private var known: Known? {
    didSet {
      guard let known else { return }
      let all = Self.tokenAddresses(configured, known.metadata)
      addresses.withLock { $0 = (all, true) }
    }
  }
  /// The addresses at which tokens are made, as far as they are known, for those who must not wait.
  nonisolated let addresses: Mutex<(known: [TargetAddress], isWhole: Bool)>
  /// The search under way, which all requests wait for.
  private var search: Task<Result<Known?, ProviderFailure>, Never>?

  /// The endpoints of a provider; `uptime` is the clock by which documents age.
  ///
  /// - Throws: `HTTPFailure.invalidURL` for an address that is not called; `.overloaded` where the machine gives no thread.
  init(
    _ dialect: OIDCDialect, _ transport: PublicTransport, _ uptime: @escaping @Sendable () -> Duration
  ) throws(HTTPFailure) {
    do throws(Errno) { try Self.worker.start() } catch { throw .overloaded }
    var configured: [OIDCEndpoint: HTTPURL] = [:]
    for (endpoint, text) in dialect.endpoints { configured[endpoint] = try HTTPURL(text) }
    self.configured = configured
    addresses = Mutex((Self.tokenAddresses(configured), false))
    self.dialect = dialect
    self.transport = transport
    self.uptime = uptime
    let issuer = try HTTPURL(dialect.issuer)
    if !dialect.usesDiscovery, let token = configured[.token] {
      firstDocument = token
    } else if dialect.quirks.readsOAuthFirst, let url = Self.inserted(Self.oauthPath, in: issuer) {
      firstDocument = url
    } else {
      firstDocument = try issuer.appending(path: Self.openIDPath)
    }
  }

  /// The address of an endpoint; nil where the provider has none.
  ///
  /// - Throws: `.transient` where the documents cannot be read; `.misconfigured(.address)` where there are none, and the
  ///   configuration does not say either where tokens are given; `.misconfigured(.issuer)` where they are another issuer's.
  func endpoint(_ endpoint: OIDCEndpoint) async throws(ProviderFailure) -> HTTPURL? {
    if let url = configured[endpoint] { return url }
    guard dialect.usesDiscovery else { return nil }
    let metadata = try await metadata { $0.endpoints[endpoint] != nil }
    guard metadata != nil || configured[.token] != nil else { throw .misconfigured(.address) }
    return metadata?.endpoints[endpoint]
  }

  /// The address of an endpoint for a session that exists, or for a login that has begun; where there are no documents
  /// now, or another issuer's, the failure passes, since there were the right ones then.
  ///
  /// - Throws: `.transient` where the documents cannot be read, are missing, or are another issuer's.
  func sessionEndpoint(_ name: OIDCEndpoint) async throws(ProviderFailure) -> HTTPURL? {
    do throws(ProviderFailure) {
      return try await endpoint(name)
    } catch .misconfigured {
      throw .transient(.invalidResponse)
    }
  }

  /// Notes that there is nothing at a discovered address: the next use searches again.
  ///
  /// Documents that were just read are trusted, so that an endpoint which is away costs no search for each call.
  func mistrust(_ url: HTTPURL) {
    guard let known, uptime() - known.since >= Self.shortestAge, known.metadata.endpoints.values.contains(url)
    else { return }
    self.known?.isDoubted = true
  }

  /// Whether the provider names itself when it sends a browser back (RFC 9207, section 2.4).
  ///
  /// - Throws: as ``endpoint(_:)``.
  func namesIssuer() async throws(ProviderFailure) -> Bool {
    guard dialect.usesDiscovery else { return false }
    return try await metadata { _ in true }?.namesIssuer ?? false
  }

  /// The other features that the provider announces.
  ///
  /// - Throws: as ``endpoint(_:)``; `.misconfigured(.address)` where it has no metadata.
  func features() async throws(ProviderFailure) -> ServerFeatures {
    guard let metadata = try await metadata({ _ in true }) else { throw .misconfigured(.address) }
    return metadata.features
  }

  /// The endpoint that takes the parameters of an authorization request (RFC 9126); nil where they go with the browser.
  ///
  /// - Parameter isWanted: whether it is used although the provider does not require it.
  /// - Returns: its address.
  /// - Throws: as ``endpoint(_:)``; `.unsupported` where the provider has none, and one is wanted or required.
  func pushedAuthorization(isWanted: Bool) async throws(ProviderFailure) -> HTTPURL? {
    guard dialect.usesDiscovery else { return nil }
    let metadata = try await metadata { !isWanted || $0.pushedAuthorization != nil }
    guard isWanted || metadata?.requiresPushing == true else { return nil }
    guard let url = metadata?.pushedAuthorization else { throw .unsupported }
    return url
  }

  /// Reads the provider's metadata; nil where it has none.
  func metadata(
    _ suffices: (ProviderMetadata) -> Bool
  ) async throws(ProviderFailure) -> ProviderMetadata? {
    // Twice: the search that is under way may be the one for the first document alone.
    for _ in 0..<2 {
      let fresh = known.flatMap { $0.isFresh(at: uptime()) ? $0 : nil }
      if let fresh, fresh.isComplete || suffices(fresh.metadata) { return fresh.metadata }
      do throws(ProviderFailure) {
        let found = try await (search ?? begin(fresh)).value.get()
        // Without any document, the configured endpoints are all there is, and the next use looks again.
        if found == nil { return old(suffices) }
      } catch {
        guard let old = old(suffices) else { throw error }
        return old
      }
    }
    return known?.metadata
  }

  /// The metadata known before, where it cannot be read any more and is enough.
  private func old(_ suffices: (ProviderMetadata) -> Bool) -> ProviderMetadata? {
    let now = uptime()
    guard let known, !known.isFresh(at: now), known.isUsable(at: now), suffices(known.metadata) else { return nil }
    return known.metadata
  }

  private func begin(_ known: Known?) -> Task<Result<Known?, ProviderFailure>, Never> {
    let task = Task { [self] in
      let result: Result<Known?, ProviderFailure>
      do throws(ProviderFailure) {
        result = .success(
          try await withTaskExecutorPreference(TaskThread.shared) { () throws(ProviderFailure) in
            try await fetchDocuments(known)
          })
      } catch { result = .failure(error) }
      // Here, not by those who wait: one that wakes up late would forget the search that came after this one.
      search = nil
      if case .success(let found?) = result { self.known = found }
      return result
    }
    search = task
    return task
  }

  /// Reads the first document, or the others where the first is known already or does not exist; nil where there is
  /// none.
  private func fetchDocuments(_ known: Known?) async throws(ProviderFailure) -> Known? {
    if known == nil {
      switch try await read(firstDocument) {
      case .found(let metadata): return Known(metadata: metadata, isComplete: false, since: uptime())
      // A captive portal, or another server: nothing is believed.
      case .unusable where !dialect.quirks.readsOAuthFirst: throw .transient(.invalidResponse)
      case .foreign: throw .misconfigured(.issuer)
      // A server of web pages may have one for this path as well.
      case .absent, .unusable: break
      }
    }
    var metadata = known?.metadata
    var isForeign = false
    search: for url in otherDocuments {
      switch try await read(url) {
      case .found(let other):
        metadata = metadata?.completed(by: other) ?? other
        break search
      case .foreign: isForeign = true
      case .absent, .unusable: break
      }
    }
    // A configuration that names the endpoints needs no document.
    if isForeign, metadata == nil, configured[.token] == nil { throw .misconfigured(.issuer) }
    return metadata.map { Known(metadata: $0, isComplete: true, since: known?.since ?? uptime()) }
  }

  /// The documents after the first one, in both forms: the well-known part before the issuer's path (RFC 8414, section
  /// 3.1), and behind it.
  nonisolated var otherDocuments: [HTTPURL] {
    guard let issuer = try? HTTPURL(dialect.issuer) else { return [] }
    let path = dialect.quirks.readsOAuthFirst ? Self.openIDPath : Self.oauthPath
    let appended = issuer.target == "/" ? nil : try? issuer.appending(path: path)
    return [Self.inserted(path, in: issuer), appended].compactMap { $0 }
  }

  private static func inserted(_ wellKnown: String, in issuer: HTTPURL) -> HTTPURL? {
    let path = issuer.target.hasSuffix("/") ? String(issuer.target.dropLast()) : issuer.target
    return try? HTTPURL(issuer.origin + wellKnown + path)
  }

  /// Reads the document of a response with the status 200.
  private nonisolated func document(_ response: HTTPResponse) -> Document {
    response.body.withArray { bytes in
      do throws(ProviderMetadata.Refusal) { return .found(try ProviderMetadata(bytes, of: dialect)) } catch {
        switch error {
        case .malformed: return .unusable
        case .otherIssuer: return .foreign
        }
      }
    }
  }

  /// Whether a response is the description of another provider than the configured one.
  nonisolated func isForeign(_ response: HTTPResponse) -> Bool {
    guard response.status == 200, dialect.usesDiscovery, case .foreign = document(response) else { return false }
    return true
  }

  private func read(_ url: HTTPURL) async throws(ProviderFailure) -> Document {
    let response: HTTPResponse
    do throws(HTTPFailure) {
      let fields = [try HTTPField("Accept", "application/json")]
      response = try await transport.send(HTTPRequest(.get, url, fields: fields, purpose: "discovery"))
    } catch {
      // It only reads: whatever became of it, nothing has happened.
      throw .transient(ErrorKind(error))
    }
    switch response.status {
    case 200:
      return document(response)
    case 300..<400: return .unusable
    case 407, 511: throw .transient(.networkUnavailable)
    case let status where Self.isAbsent(status): return .absent
    default:
      throw .transient(.providerUnavailable, retryAfter: response.retryAfter(now: WallClock.milliseconds / 1000))
    }
  }

  /// Whether a status means that there is no document: an error that is neither a redirect nor passing.
  static func isAbsent(_ status: Int) -> Bool {
    switch status {
    case 200, 300..<400, 407, 408, 425, 429, 500...: false
    default: true
    }
  }
}
