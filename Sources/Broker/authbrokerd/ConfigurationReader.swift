import Configuration
import LinuxSystem

/// Reads a configuration on a thread of its own: a file on a network that does not answer must not stop the loop.
actor ConfigurationReader {
  private nonisolated let worker = WorkerThread(name: "configuration")

  /// The executor that the actor runs on.
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    // The executor lives as long as the actor, and its thread keeps it alive longer.
    unsafe worker.asUnownedSerialExecutor()
  }

  /// Reads the configuration that a source names; the thread lives no longer than that.
  ///
  /// - Parameters:
  ///   - source: where it is.
  ///   - mayBeMissing: as ``ConfigurationSource/read(mayBeMissing:)`` has it.
  /// - Returns: what it says.
  /// - Throws: `StartFailure`, of kind `failed` where the machine gives no thread.
  static func read(
    _ source: ConfigurationSource, mayBeMissing: Bool
  ) async throws(StartFailure) -> BrokerConfiguration {
    let reader = ConfigurationReader()
    do throws(Errno) { try reader.worker.start() } catch { throw StartFailure(noThread: error) }
    defer { reader.worker.stop() }
    return try await reader.contents(of: source, mayBeMissing)
  }

  private func contents(
    of source: ConfigurationSource, _ mayBeMissing: Bool
  ) throws(StartFailure) -> BrokerConfiguration {
    try source.read(mayBeMissing: mayBeMissing)
  }
}
