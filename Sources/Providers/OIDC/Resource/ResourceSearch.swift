import BrokerCore
import BrokerProtocol
import HTTP
import LinuxSystem
import ProviderKit

/// Finds what a profile's resource says of itself, and remembers it for a while.
actor ResourceSearch {
  /// How long the metadata hold for logins and refreshes that follow each other.
  private static let age = Duration.seconds(60)

  private let resource: String
  private let discovery: ResourceDiscovery
  private let uptime: @Sendable () -> Duration
  private var known: (metadata: ResourceMetadata, since: Duration)?
  private var search: Task<Result<ResourceMetadata, ResourceDiscovery.Failure>, Never>?

  /// A search; `uptime` is the clock by which its result ages.
  init(_ resource: String, _ transport: PublicTransport, _ uptime: @escaping @Sendable () -> Duration) {
    self.resource = resource
    discovery = ResourceDiscovery(transport)
    self.uptime = uptime
  }

  /// The metadata of the resource, one search for all who want them at once.
  ///
  /// - Throws: why there are none.
  func metadata() async throws(ResourceDiscovery.Failure) -> ResourceMetadata {
    if let known, uptime() - known.since < Self.age { return known.metadata }
    if let search { return try await search.value.get() }
    let task = Task(executorPreference: TaskThread.shared) { [self] in
      let result: Result<ResourceMetadata, ResourceDiscovery.Failure>
      do throws(ResourceDiscovery.Failure) {
        result = .success(try await discovery.metadata(of: resource))
      } catch { result = .failure(error) }
      await take(result)
      return result
    }
    search = task
    return try await task.value.get()
  }

  private func take(_ result: Result<ResourceMetadata, ResourceDiscovery.Failure>) {
    search = nil
    if case .success(let found) = result { known = (found, uptime()) }
  }
}

extension ProviderFailure {
  /// The failure of a login for which the resource's metadata were not found.
  init(_ failure: ResourceDiscovery.Failure) {
    guard failure.isPassing else {
      self = .misconfigured(.resource)
      return
    }
    self = failure.cause.map { ProviderFailure.transient(ErrorKind($0)) } ?? .transient(.providerUnavailable)
  }
}
