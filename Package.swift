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
    .target(name: "JSONRPC", swiftSettings: strict),
    .target(name: "SecretMemory", dependencies: ["CLinux"], swiftSettings: strict),
    .target(name: "BrokerProtocol", dependencies: ["JSONRPC", "SecretMemory"], swiftSettings: strict),
    .target(name: "BrokerCore", dependencies: ["BrokerProtocol", "JSONRPC", "SecretMemory"], swiftSettings: strict),
    .target(
      name: "RESTDialect", dependencies: ["BrokerProtocol"], path: "Sources/Providers/RESTDialect",
      swiftSettings: strict),
    .target(
      name: "OIDCDialect", dependencies: ["BrokerProtocol"], path: "Sources/Providers/OIDCDialect",
      swiftSettings: strict),
    .target(
      name: "Configuration", dependencies: ["JSONRPC", "BrokerProtocol", "BrokerCore", "RESTDialect", "OIDCDialect"],
      swiftSettings: strict),

    // The edges.
    .target(name: "LinuxSystem", dependencies: ["CLinux"], swiftSettings: strict),
    .target(name: "SQLite", dependencies: ["CSQLite"], swiftSettings: strict),
    .target(name: "Sealing", dependencies: ["CSodium", "SecretMemory"], swiftSettings: strict),
    .target(name: "HTTP", dependencies: ["CCurl", "SecretMemory", "LinuxSystem"], swiftSettings: strict),
    .target(name: "Transport", dependencies: ["LinuxSystem"], swiftSettings: strict),
    .target(name: "Logging", dependencies: ["LinuxSystem", "BrokerProtocol"], swiftSettings: strict),
    .target(
      name: "Vault",
      dependencies: ["BrokerCore", "BrokerProtocol", "JSONRPC", "SecretMemory", "SQLite", "Sealing", "LinuxSystem"],
      swiftSettings: strict),
    .target(
      name: "LocalProvider",
      dependencies: ["BrokerCore", "BrokerProtocol", "JSONRPC", "SecretMemory", "SQLite", "Sealing", "LinuxSystem"],
      path: "Sources/Providers/Local", swiftSettings: strict),
    .target(
      name: "RemoteProvider", dependencies: ["BrokerCore", "BrokerProtocol", "HTTP", "LinuxSystem", "SecretMemory"],
      path: "Sources/Providers/Remote", swiftSettings: strict),
    .target(
      name: "RESTProvider",
      dependencies: [
        "BrokerCore", "BrokerProtocol", "JSONRPC", "SecretMemory", "HTTP", "LinuxSystem", "RESTDialect",
        "RemoteProvider",
      ],
      path: "Sources/Providers/REST", exclude: ["Mapping.md"], swiftSettings: strict),
    .target(
      name: "OIDCProvider",
      dependencies: [
        "BrokerCore", "BrokerProtocol", "JSONRPC", "SecretMemory", "HTTP", "LinuxSystem", "Sealing", "OIDCDialect",
        "RemoteProvider",
      ],
      path: "Sources/Providers/OIDC", swiftSettings: strict),
    .target(
      name: "FirebaseProvider",
      dependencies: [
        "BrokerCore", "BrokerProtocol", "JSONRPC", "SecretMemory", "HTTP", "LinuxSystem", "RemoteProvider",
      ],
      path: "Sources/Providers/Firebase", swiftSettings: strict),

    // The daemon.
    .target(
      name: "BrokerServer",
      dependencies: ["Transport", "LinuxSystem", "BrokerCore", "BrokerProtocol", "JSONRPC", "SecretMemory", "Logging"],
      swiftSettings: strict),
    .executableTarget(
      name: "authbrokerd",
      dependencies: [
        "BrokerServer", "Transport", "LinuxSystem", "BrokerCore", "BrokerProtocol", "JSONRPC", "SecretMemory",
        "Logging", "Configuration", "Vault", "LocalProvider", "RESTProvider", "RESTDialect", "OIDCProvider",
        "OIDCDialect", "FirebaseProvider", "HTTP", "Sealing", "ClientSocket",
      ],
      resources: [.embedInCode("Resources/openrpc.json")], swiftSettings: strict),

    // Client programs.
    .target(name: "ClientSocket", dependencies: ["LinuxSystem", "JSONRPC"], swiftSettings: strict),
    .target(
      name: "AuthBrokerClient",
      dependencies: ["ClientSocket", "BrokerProtocol", "JSONRPC", "SecretMemory", "LinuxSystem"],
      path: "clients/swift", swiftSettings: strict),
    .executableTarget(
      name: "authbroker",
      dependencies: ["AuthBrokerClient", "ClientSocket", "BrokerProtocol", "JSONRPC", "SecretMemory", "LinuxSystem"],
      exclude: ["authbroker.1"], swiftSettings: strict),

    // Tests.
    .target(name: "CFaultVFS", dependencies: ["CSQLite"], path: "Tests/CFaultVFS"),
    .target(
      name: "TestSupport",
      dependencies: ["BrokerCore", "BrokerProtocol", "JSONRPC", "SecretMemory", "LinuxSystem", "CFaultVFS"],
      path: "Tests/TestSupport", swiftSettings: checked),
    .testTarget(name: "JSONRPCTests", dependencies: ["JSONRPC", "TestSupport"], swiftSettings: checked),
    .testTarget(
      name: "BrokerProtocolTests", dependencies: ["BrokerProtocol", "JSONRPC", "SecretMemory", "TestSupport"],
      swiftSettings: checked),
    .testTarget(
      name: "ConfigurationTests",
      dependencies: [
        "Configuration", "RESTDialect", "OIDCDialect", "BrokerCore", "BrokerProtocol", "JSONRPC", "TestSupport",
      ],
      swiftSettings: checked),
    .testTarget(
      name: "BrokerServerTests",
      dependencies: [
        "BrokerServer", "BrokerCore", "BrokerProtocol", "JSONRPC", "SecretMemory", "LinuxSystem", "Transport",
        "Logging",
        "TestSupport",
      ],
      swiftSettings: checked),
    .testTarget(
      name: "VaultTests",
      dependencies: [
        "TestSupport", "Vault", "BrokerCore", "BrokerProtocol", "SecretMemory", "Sealing", "SQLite", "LinuxSystem",
      ],
      exclude: ["Fixtures"], swiftSettings: checked),
    .testTarget(
      name: "LocalProviderTests",
      dependencies: [
        "SQLite", "LocalProvider", "BrokerCore", "BrokerProtocol", "JSONRPC", "SecretMemory", "Sealing", "LinuxSystem",
        "TestSupport",
      ],
      swiftSettings: checked),
    .testTarget(
      name: "RESTProviderTests",
      dependencies: [
        "RESTProvider", "RESTDialect", "RemoteProvider", "HTTP", "Configuration", "BrokerCore", "BrokerProtocol",
        "JSONRPC", "SecretMemory", "LinuxSystem", "TestSupport", "TestServers",
      ],
      swiftSettings: checked),
    // Starts the servers of the tests that are programs of their own.
    .target(
      name: "TestServers", dependencies: ["HTTP", "JSONRPC", "SecretMemory", "LinuxSystem", "TestSupport"],
      path: "Tests/TestServers", swiftSettings: checked),
    .testTarget(
      name: "FirebaseProviderTests",
      dependencies: [
        "FirebaseProvider", "HTTP", "BrokerCore", "BrokerProtocol", "JSONRPC", "SecretMemory", "LinuxSystem",
        "TestSupport", "TestServers",
      ],
      swiftSettings: checked),
    // Every provider passes the same tests.
    .testTarget(
      name: "ProviderConformanceTests",
      dependencies: [
        "LocalProvider", "RESTProvider", "OIDCProvider", "OIDCDialect", "FirebaseProvider", "HTTP", "BrokerCore",
        "BrokerProtocol", "JSONRPC", "SecretMemory", "Sealing", "LinuxSystem", "TestSupport", "TestServers",
      ],
      swiftSettings: checked),
    .testTarget(
      name: "OIDCServerTests",
      dependencies: [
        "OIDCProvider", "OIDCDialect", "HTTP", "BrokerCore", "BrokerProtocol", "JSONRPC", "SecretMemory", "LinuxSystem",
        "TestServers", "TestSupport",
      ],
      swiftSettings: checked),
    .testTarget(
      name: "OIDCProviderTests",
      dependencies: [
        "OIDCProvider", "OIDCDialect", "RemoteProvider", "HTTP", "Configuration", "BrokerCore", "BrokerProtocol",
        "JSONRPC", "SecretMemory", "LinuxSystem", "Sealing", "TestSupport", "TestServers",
      ],
      swiftSettings: checked),
    .testTarget(
      name: "BrokerCoreTests",
      dependencies: ["BrokerCore", "BrokerProtocol", "JSONRPC", "SecretMemory", "LinuxSystem", "TestSupport"],
      swiftSettings: checked),
    .testTarget(
      name: "SecretMemoryTests", dependencies: ["SecretMemory", "LinuxSystem", "TestSupport"], swiftSettings: checked),
    .testTarget(
      name: "LoggingTests", dependencies: ["Logging", "LinuxSystem", "TestSupport"], swiftSettings: checked),
    .testTarget(name: "LinuxSystemTests", dependencies: ["LinuxSystem", "TestSupport"], swiftSettings: checked),
    .testTarget(name: "SQLiteTests", dependencies: ["SQLite", "LinuxSystem", "TestSupport"], swiftSettings: checked),
    .testTarget(
      name: "SealingTests", dependencies: ["Sealing", "SecretMemory", "JSONRPC", "TestSupport"], exclude: ["Fixtures"],
      swiftSettings: checked),
    // Calls a URL as the daemon would, in a process of its own: for the tests of HTTP, and its benchmark.
    .executableTarget(
      name: "HTTPProbe", dependencies: ["HTTP", "SecretMemory", "LinuxSystem"], path: "Tests/HTTPProbe",
      swiftSettings: checked),
    .testTarget(
      name: "HTTPTests",
      dependencies: ["HTTP", "HTTPProbe", "SecretMemory", "LinuxSystem", "TestSupport", "TestServers"],
      exclude: ["Servers"], swiftSettings: checked),
    .testTarget(
      name: "TransportTests", dependencies: ["Transport", "LinuxSystem", "TestSupport"], swiftSettings: checked),
    .testTarget(
      name: "ClientSocketTests", dependencies: ["ClientSocket", "LinuxSystem", "TestSupport"], swiftSettings: checked),
    .testTarget(
      name: "AuthBrokerClientTests",
      dependencies: ["AuthBrokerClient", "BrokerProtocol", "JSONRPC", "SecretMemory", "LinuxSystem", "TestSupport"],
      swiftSettings: checked),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "authbroker", "AuthBrokerClient", "ClientSocket", "BrokerProtocol", "JSONRPC", "LinuxSystem", "TestSupport",
      ],
      swiftSettings: checked),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "LinuxSystem", "JSONRPC", "BrokerProtocol", "SecretMemory", "AuthBrokerClient", "ClientSocket", "TestSupport",
        "BrokerCore", "Sealing", "Vault", "authbroker", "authbrokerd",
      ],
      swiftSettings: checked),
  ]
)
