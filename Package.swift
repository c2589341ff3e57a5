// swift-tools-version: 6.2
import PackageDescription

/// What every target of this package is compiled with.
let checked: [SwiftSetting] = [
  // Data-race safety is checked by the compiler, not by review.
  .swiftLanguageMode(.v6),
  // A warning that is not read is a defect that is not fixed.
  .treatAllWarnings(as: .error),
  // What a module imports is its own business unless it says `public import`.
  .enableUpcomingFeature("InternalImportsByDefault"),
  // A member is visible only where its module is imported.
  .enableUpcomingFeature("MemberImportVisibility"),
  // An existential costs something, so it is written `any`.
  .enableUpcomingFeature("ExistentialAny"),
  // An `async` function stays on its caller's executor: no hop to the global pool that was not asked for.
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Sources also mark every unsafe construct, each with its reason beside it.
let strict: [SwiftSetting] = checked + [.strictMemorySafety()]

/// What speaks the protocol.
let wire: [Target.Dependency] = ["BrokerProtocol", "JSON", "SecretMemory"]
/// What knows the core as well.
let core = wire + ["BrokerCore"]
/// What a provider behind HTTP is made with.
let remote = core + ["ConfigurationFile", "HTTP", "LinuxSystem", "ProviderKit"]

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
    // The version of a build (.ci/version), which one for debugging is not told: each commit would link everything again.
    .target(
      name: "CVersion",
      cSettings: Context.environment["AUTHBROKER_VERSION"].map { [.define("AUTHBROKER_VERSION", to: $0)] } ?? []),
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    // Headers only: libcurl is loaded when the first request is made, so it must not be linked (no pkg-config).
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    // Not even these: OpenSSL's libcrypto is loaded when the first key for ES256 or RS256 is used.
    .systemLibrary(name: "CCrypto"),
    // Nor these: libpq is loaded when the first fleet is used.
    .systemLibrary(name: "CPostgreSQL"),

    // The pure layers.
    .target(name: "TextCoding"),
    .target(name: "JSON"),
    .target(name: "JSONRPC", dependencies: ["JSON"]),
    .target(name: "SecretMemory", dependencies: ["CLinux"]),
    .target(name: "HTTPMessage", dependencies: ["SecretMemory"]),
    .target(name: "BrokerProtocol", dependencies: ["JSON", "JSONRPC", "SecretMemory", "TextCoding"]),
    .target(name: "JOSE", dependencies: wire + ["TextCoding"]),
    // The finished description of the protocol, which the daemon answers.
    .target(name: "COpenRPC"),
    .target(name: "BrokerCore", dependencies: wire + ["HTTPMessage", "JOSE", "TextCoding"]),
    .target(name: "ConfigurationFile", dependencies: ["JSON", "BrokerProtocol"]),

    // The edges.
    .target(name: "LinuxSystem", dependencies: ["CLinux"]),
    .target(name: "SQLite", dependencies: ["CSQLite"]),
    .target(name: "Sealing", dependencies: ["CSodium", "SecretMemory", "TextCoding"]),
    .target(name: "Signing", dependencies: ["CCrypto", "JOSE", "Sealing", "SecretMemory", "TextCoding"]),
    .target(
      name: "HTTP", dependencies: ["CCurl", "HTTPMessage", "JSON", "SecretMemory", "LinuxSystem", "TextCoding"]),
    .target(name: "Transport", dependencies: ["LinuxSystem"]),
    .target(name: "StateDirectory", dependencies: ["JSON", "LinuxSystem", "CVersion"]),
    .target(name: "Logging", dependencies: ["LinuxSystem", "BrokerProtocol"]),
    .target(name: "Hooks", dependencies: ["BrokerProtocol", "JSON", "LinuxSystem", "Logging"]),
    .target(name: "Records", dependencies: core + ["Sealing", "LinuxSystem", "TextCoding"]),
    .target(name: "PostgreSQL", dependencies: ["CPostgreSQL", "LinuxSystem", "SecretMemory"]),
    .target(
      name: "Fleet", dependencies: core + ["PostgreSQL", "Records", "Sealing", "TextCoding"]),
    .target(name: "SQLiteStore", dependencies: core + ["Records", "SQLite", "Sealing", "LinuxSystem", "TextCoding"]),
    .target(
      name: "LocalProvider", dependencies: remote + ["JOSE", "SQLite", "Sealing", "TextCoding"],
      path: "Sources/Providers/Local", resources: [.embedInCode("Accounts/CommonPasswords.txt")]),
    .target(
      name: "ProviderKit", dependencies: core + ["ConfigurationFile", "HTTP", "JOSE", "LinuxSystem", "TextCoding"]),
    .target(
      name: "RESTProvider", dependencies: remote + ["JOSE"], path: "Sources/Providers/REST", exclude: ["Mapping.md"]),
    .target(
      name: "OIDCProvider", dependencies: remote + ["HTTPMessage", "JOSE", "Sealing", "Signing", "TextCoding"],
      path: "Sources/Providers/OIDC"),
    .target(name: "FirebaseProvider", dependencies: remote, path: "Sources/Providers/Firebase"),
    .target(
      name: "StaticProvider", dependencies: core + ["ConfigurationFile", "HTTP", "ProviderKit"],
      path: "Sources/Providers/Static"),

    // The daemon.
    .target(
      name: "Configuration",
      dependencies: [
        "BrokerCore", "BrokerProtocol", "JSON", "ConfigurationFile", "Hooks", "HTTP", "ProviderKit", "LocalProvider",
        "RESTProvider", "OIDCProvider", "FirebaseProvider", "StaticProvider",
      ]),
    .target(
      name: "Doors",
      dependencies: core + ["HTTP", "HTTPMessage", "LinuxSystem", "ProviderKit", "TextCoding"]),
    .target(name: "BrokerServer", dependencies: core + ["JSONRPC", "Transport", "LinuxSystem", "Logging"]),
    .executableTarget(
      name: "authbrokerd",
      dependencies: core + [
        "BrokerServer", "Transport", "LinuxSystem", "Logging", "Configuration", "ConfigurationFile", "Doors",
        "Fleet", "PostgreSQL", "Records", "SQLiteStore", "LocalProvider", "OIDCProvider", "ProviderKit", "HTTP",
        "Sealing", "StateDirectory", "TextCoding", "COpenRPC", "Hooks",
      ], exclude: ["systemd"]),

    // Client programs.
    .target(name: "ClientSocket", dependencies: ["StateDirectory", "JSON", "LinuxSystem"]),
    .target(
      name: "AuthBrokerClient",
      dependencies: wire + ["JSONRPC", "ClientSocket", "StateDirectory", "LinuxSystem"],
      path: "clients/swift", exclude: ["README.md"]),
    .executableTarget(
      name: "authbroker",
      dependencies: wire + [
        "AuthBrokerClient", "ClientSocket", "StateDirectory", "LinuxSystem", "TextCoding",
      ],
      exclude: ["authbroker.1", "authbroker.5", "authbrokerd.8"]),

    // Tests.
    .target(name: "CFaultVFS", dependencies: ["CSQLite"], path: "Tests/Support/CFaultVFS"),
    .target(name: "TestSupport", dependencies: core + ["LinuxSystem", "CFaultVFS"], path: "Tests/Support/TestSupport"),
    .testTarget(name: "TextCodingTests", dependencies: ["TextCoding", "TestSupport"]),
    .testTarget(name: "HTTPMessageTests", dependencies: ["HTTPMessage", "TestSupport"]),
    .testTarget(name: "JSONTests", dependencies: ["JSON", "TestSupport"]),
    .testTarget(name: "JSONRPCTests", dependencies: ["JSON", "JSONRPC", "TestSupport"]),
    .testTarget(
      name: "BrokerProtocolTests", dependencies: wire + ["BrokerServer", "JSONRPC", "LinuxSystem", "TestSupport"]),
    .testTarget(
      name: "ConfigurationTests",
      dependencies: [
        "Configuration", "ConfigurationFile", "ProviderKit", "LocalProvider", "RESTProvider", "OIDCProvider",
        "FirebaseProvider", "StaticProvider", "BrokerCore", "BrokerProtocol", "Hooks", "JSON", "JSONRPC", "HTTP",
        "SecretMemory", "TestSupport",
      ]),
    .testTarget(
      name: "BrokerServerTests",
      dependencies: core + [
        "BrokerServer", "JSONRPC", "LinuxSystem", "ProviderKit", "Transport", "Logging", "TestSupport",
      ]),
    .testTarget(
      name: "RecordsTests",
      dependencies: core + ["LinuxSystem", "Records", "Sealing", "TestSupport"]),
    .testTarget(
      name: "SQLiteStoreTests",
      dependencies: [
        "TestSupport", "Records", "SQLiteStore", "BrokerCore", "BrokerProtocol", "JSON", "SecretMemory", "Sealing",
        "SQLite",
        "LinuxSystem",
      ], exclude: ["Fixtures"]),
    .testTarget(
      name: "LocalProviderTests",
      dependencies: remote + ["SQLite", "LocalProvider", "Sealing", "TestSupport", "TestServers", "TextCoding"]),
    .testTarget(name: "ProviderKitTests", dependencies: core + ["HTTP", "ProviderKit", "TestSupport", "TextCoding"]),
    .testTarget(
      name: "RESTProviderTests",
      dependencies: remote + ["RESTProvider", "Configuration", "TestSupport", "TestServers"]),
    // Starts the servers of the tests that are programs of their own.
    .target(
      name: "TestServers", dependencies: ["HTTP", "JSON", "SecretMemory", "LinuxSystem", "TestSupport"],
      path: "Tests/Support/TestServers"),
    .testTarget(
      name: "FirebaseProviderTests",
      dependencies: remote + ["FirebaseProvider", "TestSupport", "TestServers"]),
    .testTarget(
      name: "StaticProviderTests",
      dependencies: core + ["ConfigurationFile", "HTTP", "ProviderKit", "StaticProvider", "TestSupport"]),
    // Every provider passes the same tests.
    .testTarget(
      name: "ProviderConformanceTests",
      dependencies: remote + [
        "LocalProvider", "RESTProvider", "OIDCProvider", "FirebaseProvider", "Sealing", "TestSupport", "TestServers",
      ], path: "Tests/Contracts/ProviderConformanceTests"),
    // Every place of shared records passes the same tests, and so does what a fleet does with it.
    .testTarget(
      name: "SharedRecordTests",
      dependencies: core + ["Fleet", "LinuxSystem", "PostgreSQL", "SQLite", "Sealing", "TestSupport"],
      path: "Tests/Contracts/SharedRecordTests"),
    .testTarget(
      name: "OIDCServerTests", dependencies: remote + ["OIDCProvider", "TestServers", "TestSupport"]),
    .testTarget(
      name: "OIDCProviderTests",
      dependencies: remote + [
        "OIDCProvider", "Configuration", "HTTPMessage", "JOSE", "Sealing", "Signing", "TestSupport", "TestServers",
        "TextCoding",
      ]),
    .testTarget(
      name: "JOSETests", dependencies: wire + ["JOSE", "TestSupport", "TextCoding"]),
    .testTarget(
      name: "SigningTests", dependencies: wire + ["JOSE", "LinuxSystem", "Signing", "TestSupport", "TextCoding"]),
    .testTarget(
      name: "BrokerCoreTests",
      dependencies: core + ["Fleet", "LinuxSystem", "ProviderKit", "Records", "Sealing", "TestSupport"]),
    .testTarget(name: "SecretMemoryTests", dependencies: ["SecretMemory", "LinuxSystem", "TestSupport"]),
    .testTarget(name: "LoggingTests", dependencies: ["Logging", "LinuxSystem", "TestSupport"]),
    .testTarget(
      name: "HooksTests", dependencies: ["BrokerProtocol", "Hooks", "LinuxSystem", "Logging", "TestSupport"]),
    .testTarget(name: "DoorsTests", dependencies: core + ["Doors", "HTTP", "LinuxSystem", "TestSupport"]),
    .testTarget(name: "LinuxSystemTests", dependencies: ["LinuxSystem", "TestSupport"]),
    .testTarget(name: "SQLiteTests", dependencies: ["SQLite", "LinuxSystem", "TestSupport"]),
    .testTarget(
      name: "SealingTests", dependencies: ["Sealing", "SecretMemory", "JSON", "TestSupport"], exclude: ["Fixtures"]),
    // Calls a URL as the daemon would, in a process of its own: for the tests of HTTP, and its benchmark.
    .executableTarget(
      name: "HTTPProbe", dependencies: ["HTTP", "SecretMemory", "Signing", "LinuxSystem"],
      path: "Tests/Support/HTTPProbe"),
    .testTarget(
      name: "HTTPTests",
      dependencies: ["HTTP", "HTTPMessage", "HTTPProbe", "SecretMemory", "LinuxSystem", "TestSupport", "TestServers"],
      exclude: ["Servers"]),
    .testTarget(name: "TransportTests", dependencies: ["Transport", "LinuxSystem", "TestSupport"]),
    .testTarget(name: "StateDirectoryTests", dependencies: ["StateDirectory", "LinuxSystem", "TestSupport"]),
    .testTarget(
      name: "ClientSocketTests", dependencies: ["ClientSocket", "StateDirectory", "LinuxSystem", "TestSupport"]),
    .testTarget(
      name: "AuthBrokerClientTests",
      dependencies: wire + ["AuthBrokerClient", "StateDirectory", "LinuxSystem", "TestSupport"]),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "authbroker", "AuthBrokerClient", "BrokerServer", "ClientSocket", "StateDirectory", "BrokerProtocol",
        "SecretMemory", "JSON", "LinuxSystem", "TestSupport", "TextCoding",
      ]),
    .testTarget(
      name: "EndToEndTests",
      dependencies: core + [
        "JSONRPC", "LinuxSystem", "AuthBrokerClient", "ClientSocket", "StateDirectory", "TestSupport", "Sealing",
        "TextCoding", "SQLite", "Records", "SQLiteStore", "BrokerServer", "authbroker", "authbrokerd",
      ], path: "Tests/EndToEnd", exclude: ["Upgrade/README.md", "Upgrade/Vaults", "Upgrade/record"]),
  ]
)

/// Where the targets lie, lowest first; a provider is where its target says.
let districts: KeyValuePairs = [
  "Base": [
    "CLinux", "CVersion", "CSodium", "CSQLite", "CCurl", "CCrypto", "CPostgreSQL", "TextCoding", "JSON", "JSONRPC",
    "SecretMemory", "HTTPMessage", "LinuxSystem", "Transport", "Logging", "StateDirectory",
  ],
  "Protocol": ["BrokerProtocol", "COpenRPC"],
  "Broker": [
    "JOSE", "BrokerCore", "BrokerServer", "Fleet", "PostgreSQL", "Records", "SQLiteStore", "SQLite", "Sealing",
    "Signing", "HTTP", "ConfigurationFile", "Configuration", "Doors", "Hooks", "authbrokerd",
  ],
  "Providers": ["ProviderKit"],
  "Command": ["ClientSocket", "authbroker"],
]
for (district, names) in districts {
  for target in package.targets where names.contains(target.name) { target.path = "Sources/\(district)/\(target.name)" }
}

for target in package.targets where target.type != .system && target.name != "CFaultVFS" {
  target.swiftSettings = target.isForTests ? checked : strict
  if target.type == .test, target.path == nil { target.path = "Tests/Suites/\(target.name)" }
}

// What waits for a network or a person is compiled for size: it is a part of the daemon alone, so that no package that
// uses the library of this one has an unsafe flag.
let unhurried: Set = [
  "Configuration", "ConfigurationFile", "FirebaseProvider", "Fleet", "Hooks", "LocalProvider", "OIDCProvider",
  "PostgreSQL", "ProviderKit", "RESTProvider", "StaticProvider",
]
for target in package.targets where unhurried.contains(target.name) {
  target.swiftSettings?.append(.unsafeFlags(["-Osize"], .when(configuration: .release)))
}

// The daemon of a release does not import the library of regular expressions (.ci/build-release): a search that needs it fails in
// every build of this package. A package that depends on this one by its version takes no unsafe flags.
if !Context.packageDirectory.split(separator: "/").contains("checkouts") {
  for target in package.targets where !target.isForTests && target.type != .system {
    target.swiftSettings?.append(
      .unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"]))
  }
}

// Accesses that overlap are looked for in debug builds, which all tests run. On the way of a request every one of these
// objects belongs to the loop's thread, and the look would be half as many instructions again (Decisions/UncheckedLoop.md).
for target in package.targets where ["BrokerServer", "Transport"].contains(target.name) {
  target.swiftSettings?.append(.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)))
}

// AUTHBROKER_TESTS="BrokerCoreTests HTTPTests" swift build --build-tests: these suites alone, which saves minutes after a
// change of the core.
if let names = Context.environment["AUTHBROKER_TESTS"]?.split(separator: " ").map(String.init) {
  package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}

extension Target {
  /// Whether it lies below `Tests`.
  var isForTests: Bool { type == .test || path?.hasPrefix("Tests/") ?? false }
}
