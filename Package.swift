// swift-tools-version: 6.2
import PackageDescription

/// What every target of this package is compiled with.
let checked: [SwiftSetting] = [
  // Data-race safety is checked by the compiler, not by review.
  .swiftLanguageMode(.v6),
  // A warning that nobody reads is a defect that nobody mends.
  .treatAllWarnings(as: .error),
  // What a module imports is its own business unless it says `public import`.
  .enableUpcomingFeature("InternalImportsByDefault"),
  // A member is visible only where its module is imported.
  .enableUpcomingFeature("MemberImportVisibility"),
  // An existential costs something, so it is written `any`.
  .enableUpcomingFeature("ExistentialAny"),
  // An `async` function stays on its caller's executor: no hop to the global pool that nobody asked for.
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Sources also mark every unsafe construct, each with its reason beside it.
let strict: [SwiftSetting] = checked + [.strictMemorySafety()]

/// What speaks the protocol.
let wire: [Target.Dependency] = ["BrokerProtocol", "JSONRPC", "SecretMemory"]
/// What knows the core as well.
let core = wire + ["BrokerCore"]

let package = Package(
  name: "AuthBroker",
  products: [
    .executable(name: "authbroker", targets: ["authbroker"]),
    .executable(name: "authbrokerd", targets: ["authbrokerd"]),
    .library(name: "AuthBrokerClient", targets: ["AuthBrokerClient"]),
  ],
  targets: [
    // C libraries: a module map and a shim, one importer each.
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    // Headers only: libcurl is loaded when the first request is made, so it must not be linked (no pkg-config).
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),

    // The pure layers.
    .target(name: "JSONRPC"),
    .target(name: "SecretMemory", dependencies: ["CLinux"]),
    .target(name: "BrokerProtocol", dependencies: ["JSONRPC", "SecretMemory"]),
    .target(name: "BrokerCore", dependencies: wire),
    .target(name: "RESTDialect", dependencies: ["BrokerProtocol"], path: "Sources/Providers/RESTDialect"),
    .target(name: "OIDCDialect", dependencies: ["BrokerProtocol"], path: "Sources/Providers/OIDCDialect"),
    .target(name: "ConfigurationFile", dependencies: ["JSONRPC", "BrokerProtocol"]),

    // The edges.
    .target(name: "LinuxSystem", dependencies: ["CLinux"]),
    .target(name: "SQLite", dependencies: ["CSQLite"]),
    .target(name: "Sealing", dependencies: ["CSodium", "SecretMemory"]),
    .target(name: "HTTP", dependencies: ["CCurl", "SecretMemory", "LinuxSystem"]),
    .target(name: "Transport", dependencies: ["LinuxSystem"]),
    .target(name: "Logging", dependencies: ["LinuxSystem", "BrokerProtocol"]),
    .target(name: "Vault", dependencies: core + ["SQLite", "Sealing", "LinuxSystem"]),
    .target(
      name: "LocalProvider",
      dependencies: core + ["ConfigurationFile", "HTTP", "SQLite", "Sealing", "LinuxSystem", "RemoteProvider"],
      path: "Sources/Providers/Local"),
    .target(
      name: "RemoteProvider", dependencies: core + ["ConfigurationFile", "HTTP", "LinuxSystem"],
      path: "Sources/Providers/Remote"),
    .target(
      name: "RESTProvider",
      dependencies: core + ["ConfigurationFile", "HTTP", "LinuxSystem", "RESTDialect", "RemoteProvider"],
      path: "Sources/Providers/REST", exclude: ["Mapping.md"]),
    .target(
      name: "OIDCProvider",
      dependencies: core + ["ConfigurationFile", "HTTP", "LinuxSystem", "Sealing", "OIDCDialect", "RemoteProvider"],
      path: "Sources/Providers/OIDC"),
    .target(
      name: "FirebaseProvider", dependencies: core + ["ConfigurationFile", "HTTP", "LinuxSystem", "RemoteProvider"],
      path: "Sources/Providers/Firebase"),

    // The daemon.
    .target(
      name: "Configuration",
      dependencies: [
        "BrokerCore", "BrokerProtocol", "ConfigurationFile", "HTTP", "LocalProvider", "RemoteProvider", "RESTProvider",
        "RESTDialect", "OIDCProvider", "OIDCDialect", "FirebaseProvider",
      ]),
    .target(name: "BrokerServer", dependencies: core + ["Transport", "LinuxSystem", "Logging"]),
    .executableTarget(
      name: "authbrokerd",
      dependencies: core + [
        "BrokerServer", "Transport", "LinuxSystem", "Logging", "Configuration", "ConfigurationFile", "Vault",
        "LocalProvider", "RemoteProvider", "HTTP", "Sealing", "ClientSocket",
      ]),

    // Client programs.
    .target(name: "ClientSocket", dependencies: ["LinuxSystem", "JSONRPC"]),
    .target(name: "AuthBrokerClient", dependencies: wire + ["ClientSocket", "LinuxSystem"], path: "clients/swift"),
    .executableTarget(
      name: "authbroker", dependencies: wire + ["AuthBrokerClient", "ClientSocket", "LinuxSystem"],
      exclude: ["authbroker.1"]),

    // Tests.
    .target(name: "CFaultVFS", dependencies: ["CSQLite"], path: "Tests/Support/CFaultVFS"),
    .target(name: "TestSupport", dependencies: core + ["LinuxSystem", "CFaultVFS"], path: "Tests/Support/TestSupport"),
    .testTarget(name: "JSONRPCTests", dependencies: ["JSONRPC", "TestSupport"]),
    .testTarget(name: "BrokerProtocolTests", dependencies: wire + ["TestSupport"]),
    .testTarget(
      name: "ConfigurationTests",
      dependencies: [
        "Configuration", "ConfigurationFile", "LocalProvider", "RemoteProvider", "RESTProvider", "RESTDialect",
        "OIDCProvider", "OIDCDialect", "FirebaseProvider", "BrokerCore", "BrokerProtocol", "JSONRPC", "HTTP",
        "TestSupport",
      ]),
    .testTarget(
      name: "BrokerServerTests",
      dependencies: core + ["BrokerServer", "LinuxSystem", "Transport", "Logging", "TestSupport"]),
    .testTarget(
      name: "VaultTests",
      dependencies: [
        "TestSupport", "Vault", "BrokerCore", "BrokerProtocol", "SecretMemory", "Sealing", "SQLite", "LinuxSystem",
      ], exclude: ["Fixtures"]),
    .testTarget(
      name: "LocalProviderTests",
      dependencies: core + [
        "SQLite", "LocalProvider", "RemoteProvider", "ConfigurationFile", "HTTP", "Sealing", "LinuxSystem",
        "TestSupport", "TestServers",
      ]),
    .testTarget(
      name: "RESTProviderTests",
      dependencies: core + [
        "RESTProvider", "RESTDialect", "RemoteProvider", "HTTP", "Configuration", "ConfigurationFile", "LinuxSystem",
        "TestSupport", "TestServers",
      ]),
    // Starts the servers of the tests that are programs of their own.
    .target(
      name: "TestServers", dependencies: ["HTTP", "JSONRPC", "SecretMemory", "LinuxSystem", "TestSupport"],
      path: "Tests/Support/TestServers"),
    .testTarget(
      name: "FirebaseProviderTests",
      dependencies: core + ["FirebaseProvider", "HTTP", "LinuxSystem", "TestSupport", "TestServers"]),
    // Every provider passes the same tests.
    .testTarget(
      name: "ProviderConformanceTests",
      dependencies: core + [
        "LocalProvider", "RESTProvider", "OIDCProvider", "OIDCDialect", "FirebaseProvider", "HTTP", "Sealing",
        "LinuxSystem", "TestSupport", "TestServers",
      ], path: "Tests/Contracts/ProviderConformanceTests"),
    .testTarget(
      name: "OIDCServerTests",
      dependencies: core + ["OIDCProvider", "OIDCDialect", "HTTP", "LinuxSystem", "TestServers", "TestSupport"]),
    .testTarget(
      name: "OIDCProviderTests",
      dependencies: core + [
        "OIDCProvider", "OIDCDialect", "RemoteProvider", "HTTP", "Configuration", "LinuxSystem", "Sealing",
        "TestSupport", "TestServers",
      ]),
    .testTarget(name: "BrokerCoreTests", dependencies: core + ["LinuxSystem", "TestSupport"]),
    .testTarget(name: "SecretMemoryTests", dependencies: ["SecretMemory", "LinuxSystem", "TestSupport"]),
    .testTarget(name: "LoggingTests", dependencies: ["Logging", "LinuxSystem", "TestSupport"]),
    .testTarget(name: "LinuxSystemTests", dependencies: ["LinuxSystem", "TestSupport"]),
    .testTarget(name: "SQLiteTests", dependencies: ["SQLite", "LinuxSystem", "TestSupport"]),
    .testTarget(
      name: "SealingTests", dependencies: ["Sealing", "SecretMemory", "JSONRPC", "TestSupport"], exclude: ["Fixtures"]),
    // Calls a URL as the daemon would, in a process of its own: for the tests of HTTP, and its benchmark.
    .executableTarget(
      name: "HTTPProbe", dependencies: ["HTTP", "SecretMemory", "LinuxSystem"], path: "Tests/Support/HTTPProbe"),
    .testTarget(
      name: "HTTPTests",
      dependencies: ["HTTP", "HTTPProbe", "SecretMemory", "LinuxSystem", "TestSupport", "TestServers"],
      exclude: ["Servers"]),
    .testTarget(name: "TransportTests", dependencies: ["Transport", "LinuxSystem", "TestSupport"]),
    .testTarget(name: "ClientSocketTests", dependencies: ["ClientSocket", "LinuxSystem", "TestSupport"]),
    .testTarget(
      name: "AuthBrokerClientTests", dependencies: wire + ["AuthBrokerClient", "LinuxSystem", "TestSupport"]),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "authbroker", "AuthBrokerClient", "ClientSocket", "BrokerProtocol", "JSONRPC", "LinuxSystem", "TestSupport",
      ]),
    .testTarget(
      name: "EndToEndTests",
      dependencies: core + [
        "LinuxSystem", "AuthBrokerClient", "ClientSocket", "TestSupport", "Sealing", "Vault", "authbroker",
        "authbrokerd",
      ], path: "Tests/EndToEnd"),
  ]
)

for target in package.targets where target.type != .system && target.name != "CFaultVFS" {
  target.swiftSettings = target.isForTests ? checked : strict
  if target.type == .test, target.path == nil { target.path = "Tests/Suites/\(target.name)" }
}

extension Target {
  /// Whether it lies below `Tests`.
  var isForTests: Bool { type == .test || path?.hasPrefix("Tests/") ?? false }
}
