import BrokerServer
import Configuration
import Logging

extension ServerLimits {
  /// Descriptors that are not for connections: the database, the listener, the log, and what libraries open.
  private static let reservedDescriptors = 64

  /// The bounds that a configuration asks for, as far as the process has descriptors for them.
  init(_ limits: LimitsConfiguration, descriptorLimit: Int) {
    self.init(
      json: limits.json, batchEntries: limits.maxBatchEntries, requestsInFlight: limits.maxRequestsInFlight,
      subscriptions: limits.maxSubscriptionsPerConnection,
      connections: max(1, min(limits.maxConnections, descriptorLimit - Self.reservedDescriptors)),
      idBytes: limits.maxIDBytes, outputBytes: limits.maxOutputBufferBytes, stalledOutput: limits.stalledOutput)
  }
}

extension LogLevel {
  /// The level that a configuration asks for.
  init(_ level: BrokerConfiguration.LogLevel) {
    switch level {
    case .error: self = .error
    case .warning: self = .warning
    case .info: self = .info
    case .debug: self = .debug
    }
  }
}
