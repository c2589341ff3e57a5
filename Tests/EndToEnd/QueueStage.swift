import JSON
import LinuxSystem
import TestSupport
import Testing

/// A broker whose profile `shop` may be used for requests to the API, with a session of Ada's.
struct QueueStage {
  static let ada = #"{"email":"ada@example.com","password":"example password 1"}"#
  static let bob = #"{"email":"bob@example.com","password":"example password 2"}"#

  let sandbox: Sandbox
  let api: RESTBackend
  let configuration: [String]

  init(
    _ sandbox: Sandbox, queue: String = "", others: String = "", mapping: String = "", isLoggedIn: Bool = true
  ) throws {
    self.sandbox = sandbox
    api = try RESTBackend(sandbox, account: Self.ada, ["--account", Self.bob])
    let rules = #"allow: [{ origin: "\#(api.url)", methods: ["POST", "PUT"] }]"#
    let requests = "requests: { \(rules), queue: { \(queue) } }"
    let profile = #"{ provider: "rest", baseUrl: "\#(api.url)", mapping: { \#(mapping) }, \#(requests) }"#
    configuration = try sandbox.configure("{ profiles: { shop: \(profile) }, \(others) }")
    guard isLoggedIn else { return }
    let owner = try sandbox.owner(configuration)
    try logIn(Self.ada, try SocketWire(sandbox.socket))
    try owner.send(.terminate)
    try owner.wait()
  }

  func logIn(_ account: String, _ wire: SocketWire) throws { _ = try wire.call("login", account) }

  func start() throws -> (Program, SocketWire) {
    (try sandbox.owner(configuration), try SocketWire(sandbox.socket))
  }

  func queue(_ key: String, _ body: String, _ wire: SocketWire, path: String = "/effect") throws -> String {
    try wire.call("queueRequest", params(key, body, path)).required("requestId").string()
  }

  func params(_ key: String, _ body: String, _ path: String = "/effect") -> String {
    #"{"method":"POST","url":"/service\#(path)","body":"\#(body)","idempotencyKey":"\#(key)"}"#
  }

  /// The states in the order of the list, as `state` or `state reason`.
  func states(_ wire: SocketWire) throws -> [String] {
    try wire.call("listRequests").required("requests").elements().map { request in
      let more = try request["reason"]?.string() ?? request["kind"]?.string()
      return try request.required("state").string() + (more.map { " \($0)" } ?? "")
    }
  }

  func awaitEnd(_ wire: SocketWire) throws {
    let isOver = try Patience.wait { try states(wire).allSatisfy { $0.hasPrefix("completed") } }
    let last = try states(wire)
    try #require(isOver, "\(last)")
  }

  /// What the API has done, in order, each once.
  func effects() throws -> [String] {
    try api.ask("/ledger?event=effect").required("entries").elements().filter {
      try !$0.required("replayed").bool()
    }.map { try $0.required("body").string() }
  }
}
