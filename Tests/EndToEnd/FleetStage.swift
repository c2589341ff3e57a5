import JSON
import LinuxSystem
import TestSupport
import Testing

/// The brokers of a fleet, their database and their provider.
struct FleetStage {
  let sandbox: Sandbox
  let cluster: DatabaseCluster
  let backend: RESTBackend
  /// `pollSeconds` of all members.
  var poll = 1
  /// The connection string of all members: to the database, or to a pool before it.
  private var connection: String

  /// The first file with the key of the fleet.
  var keyFile: String { sandbox.root + "/fleet.key" }

  /// Runs a test with a fleet that has no member yet; its members reach the database by a pool where one is named.
  static func run(
    poll: Int = 1, _ pool: DatabaseCluster.PoolMode? = nil, _ body: @Sendable (FleetStage) throws -> Void
  ) async throws {
    try await Sandbox.run { sandbox in
      let cluster = try DatabaseCluster()
      defer { cluster.end() }
      var stage = FleetStage(
        sandbox: sandbox, cluster: cluster,
        backend: try RESTBackend(
          sandbox, account: #"{"email":"ada@example.com","password":"example password 1","name":"Ada"}"#),
        poll: poll, connection: cluster.connection)
      let made = try stage.fleet("first", "init", ["--new-key", stage.keyFile])
      #expect(made.code == 0, "\(made.errors)")
      if let pool { stage.connection = try cluster.startPool(pool, table: "authbroker_fleet") }
      try body(stage)
    }
  }

  /// The shared profile `shop`, as most members have it.
  var shop: String { #"shop: {provider: "rest", baseUrl: "\#(backend.url)", shared: true}"# }

  /// Writes the configuration of a machine.
  ///
  /// - Parameters:
  ///   - name: that of the machine.
  ///   - key: the path of its `store.key`; nil for the first one.
  ///   - poll: `pollSeconds`; nil for that of all.
  ///   - profiles: its profiles; nil for `shop` alone.
  /// - Returns: the arguments that choose its state directory and its configuration.
  /// - Throws: `Errno` where it cannot be written.
  @discardableResult
  func configure(_ name: String, key: String? = nil, poll: Int? = nil, _ profiles: [String]? = nil) throws -> [String] {
    let path = "\(sandbox.root)/\(name).json"
    let list = ((profiles ?? [shop]) + [#"own: {provider: "local"}"#]).joined(separator: ", ")
    try Directory.write(
      """
      {store: {fleet: "f", pollSeconds: \(poll ?? self.poll), postgres: {connection: "\(connection)"},
               key: {file: "\(key ?? keyFile)"}},
       profiles: {\(list)}}
      """, to: path)
    return arguments(name)
  }

  private func arguments(_ name: String) -> [String] {
    ["--state", "\(sandbox.root)/\(name)", "--config", "\(sandbox.root)/\(name).json"]
  }

  /// Starts a member, and gives a connection to it.
  func member(_ name: String, key: String? = nil, _ profiles: [String]? = nil) throws -> FleetMember {
    let program = try sandbox.owner(try configure(name, key: key, profiles))
    return try FleetMember(program: program, path: "\(sandbox.root)/\(name)/run/broker.sock")
  }

  /// Runs `authbroker fleet` on a machine, which is configured as usual where nothing else was said.
  func fleet(_ name: String, _ word: String, _ options: [String] = []) throws -> Sandbox.Outcome {
    if (try? FileStatus.ofLink("\(sandbox.root)/\(name).json")) == nil { try configure(name) }
    return try sandbox.run(BuiltPrograms.command, arguments(name) + ["fleet", word] + options)
  }

  /// Runs it with an output for programs.
  func json(_ name: String, _ word: String, _ options: [String] = []) throws -> JSONNode {
    let outcome = try fleet(name, word, options + ["--json"])
    #expect(outcome.code == 0, "\(outcome.errors)")
    return try JSONDocument(parsing: Array(outcome.output.utf8)).root
  }
}

/// One broker of a fleet.
struct FleetMember {
  let program: Program
  let wire: SocketWire
  /// A second connection, to which events come.
  private let events: SocketWire

  /// A broker that runs, on its socket.
  init(program: Program, path: String) throws {
    self.program = program
    (wire, events) = (try SocketWire(path), try SocketWire(path))
    _ = try events.call("subscribe")
  }

  /// The token of the shared session; a new one where that is wanted.
  func token(new: Bool = false) throws -> String {
    try wire.call("getAccessToken", #"{"profile":"shop","forceRefresh":\#(new)}"#).required("accessToken").string()
  }

  /// The state of the shared session.
  func state(of profile: String = "shop") throws -> String {
    try wire.call("getSession", #"{"profile":"\#(profile)"}"#).required("state").string()
  }

  /// Logs in, with the proof that this takes where there is a session.
  func logIn(_ profile: String = "shop") throws {
    let result = try wire.call(
      "login", #"{"profile":"\#(profile)","email":"ada@example.com","password":"example password 1"}"#)
    #expect(try result.required("status").string() == "authenticated")
  }

  /// The kinds of the alerts that it has raised since.
  func alerts() throws -> [String] {
    try events.send(Array(#"{"jsonrpc":"2.0","id":"end","method":"ping"}"#.utf8))
    var kinds: [String] = []
    while true {
      let message = try events.nextNode()
      if try message["id"]?.string() == "end" { return kinds }
      guard let event = message["params"], try event["event"]?.string() == "securityAlert" else { continue }
      kinds.append(try event["data"]?["kind"]?.string() ?? "?")
    }
  }
}
