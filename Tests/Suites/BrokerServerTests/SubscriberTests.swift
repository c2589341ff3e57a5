import BrokerCore
import BrokerProtocol
import BrokerServer
import JSON
import TestSupport
import Testing

/// Somebody who only listens, and whose connection breaks all the time, always ends with the broker's state.
@Suite(.standardTimeLimit) struct SubscriberTests {
  private static let profiles = ["default", "work"]

  private static func call(_ method: String, _ params: String = "{}", _ id: Int = 9) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  /// What a subscriber knows of a profile: as much as events tell.
  private struct Knowledge: Equatable {
    var state = ""
    var userID: String?
    var reason: String?
    /// Nil where no event has told it.
    var expiresAt: String??

    /// From a session: whether the provider can be reached just now is another matter.
    init(_ session: JSONNode) throws {
      let word = try session.required("state").string()
      switch word {
      case "authenticated", "refreshing", "offline": state = "in"
      default: state = word
      }
      userID = try session["userId"]?.string()
      reason = try session["loginRequiredReason"]?.string()
      expiresAt = .some(try session["accessTokenExpiresAt"]?.string())
    }

    mutating func take(_ event: String, _ data: JSONNode?) throws {
      switch event {
      case "login": (state, userID, reason, expiresAt) = ("in", try data?["userId"]?.string(), nil, nil)
      case "logout": (state, userID, reason, expiresAt) = ("signedOut", nil, nil, .some(nil))
      case "sessionExpired":
        (state, userID, reason, expiresAt) = ("expired", nil, try data?["reason"]?.string(), .some(nil))
      case "tokenRefreshed": expiresAt = .some(try data?["expiresAt"]?.string())
      default: break
      }
    }

    func agrees(with other: Knowledge) -> Bool {
      let isSame = state == other.state && userID == other.userID && reason == other.reason
      guard let expiresAt, let others = other.expiresAt else { return isSame }
      return isSame && expiresAt == others
    }
  }

  /// One who listens, and loses the connection.
  private final class Listener {
    private(set) var known: [String: Knowledge] = [:]
    private(set) var sequence = 0
    private(set) var losses = 0
    private(set) var resyncs = 0
    private(set) var replays = 0
    private var client: TestClient?

    /// Connects where nothing is connected: with `since` where something is known, and that is wanted.
    func connect(_ harness: ServerHarness, resumes: Bool) throws {
      guard client == nil else { return }
      let client = try harness.connect()
      self.client = client
      let since = resumes && !known.isEmpty
      try subscribe(client, since: since)
    }

    private func subscribe(_ client: TestClient, since: Bool) throws {
      client.send(SubscriberTests.call("subscribe", since ? #"{"since":\#(sequence)}"# : "{}") + "\n")
      try take(client.lines(), isResuming: since)
    }

    func disconnect() {
      client?.close()
      client = nil
    }

    /// The broker is gone: so is the connection.
    func forgetConnection() { client = nil }

    /// Reads everything that there is.
    func read() throws {
      guard let client else { return }
      while case let lines = client.lines(), !lines.isEmpty { try take(lines, isResuming: true) }
    }

    private func take(_ lines: [String], isResuming: Bool) throws {
      for line in lines {
        let message = try JSONDocument(parsing: Array(line.utf8)).root
        if let result = message["result"] {
          try take(result, isResuming: isResuming)
        } else {
          try note(message.required("params"))
        }
      }
    }

    private func take(_ result: JSONNode, isResuming: Bool) throws {
      let isResync = try result["resync"]?.bool() ?? false
      if isResync { resyncs += 1 }
      guard isResync || !isResuming else {
        // What was missed comes behind, and leads to the very state that the answer names.
        replays += 1
        return
      }
      sequence = try Int(from: result.required("sequence"))
      for session in try result.required("sessions").elements() {
        known[try session.required("profile").string()] = try Knowledge(session)
      }
    }

    private func note(_ params: JSONNode) throws {
      let event = try params.required("event").string()
      if event == "eventsLost" {
        losses += 1
        // Whoever has missed something asks again: on the same connection, beside the old subscription.
        disconnect()
        known = [:]
        return
      }
      let number = try Int(from: params.required("sequence"))
      #expect(number > sequence, "\(event) \(number) behind \(sequence)")
      sequence = number
      if let profile = try params["profile"]?.string() { try known[profile]?.take(event, params["data"]) }
    }
  }

  private static func limits() -> Limits {
    var limits = Limits()
    limits[.stalledOutput] = 3_600_000
    return limits
  }

  /// Lets something happen to a session.
  private static func stir(_ harness: ServerHarness, _ client: TestClient, _ random: inout SeededGenerator) {
    let profile = profiles[Int.random(in: 0..<profiles.count, using: &random)]
    switch Int.random(in: 0..<10, using: &random) {
    case 0...2:
      let password = Int.random(in: 0..<4, using: &random) == 0 ? "wrong" : "right"
      _ = client.ask(call("login", #"{"profile":"\#(profile)","email":"a@example.test","password":"\#(password)"}"#))
    case 3: _ = client.ask(call("logout", #"{"profile":"\#(profile)"}"#))
    case 4: _ = client.ask(call("reportRejected", #"{"profile":"\#(profile)","tokenId":"x","status":403}"#))
    case 5:
      harness.clock.advance(by: .seconds(Int.random(in: 1..<1200, using: &random)))
      harness.settle()
    default:
      switch Int.random(in: 0..<6, using: &random) {
      case 0: harness.provider.setRefresh(.fails(.transient(.networkUnavailable)))
      case 1: harness.provider.setRefresh(.fails(.sessionEnded(.refreshRejected)))
      default: harness.provider.setRefresh(.succeeds(lifetime: .seconds(900)))
      }
      _ = client.ask(call("getAccessToken", #"{"profile":"\#(profile)","forceRefresh":true}"#))
    }
  }

  private static func expectAgreement(_ listener: Listener, _ client: TestClient, _ step: Int) throws {
    for profile in profiles {
      let answer = client.ask(call("getSession", #"{"profile":"\#(profile)"}"#)).last ?? ""
      let session = try JSONDocument(parsing: Array(answer.utf8)).root.required("result")
      let known = try #require(listener.known[profile])
      #expect(try known.agrees(with: Knowledge(session)), "step \(step): \(known) is not \(answer)")
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `a subscriber that reconnects at random ends with the broker's state`(_ seed: UInt64) async throws {
    try await OwnThread.run {
      var random = SeededGenerator(seed: seed)
      let (store, clock) = (InMemoryStore(), ManualClock())
      func start() throws -> ServerHarness {
        try ServerHarness(limits: Self.limits(), profiles: Self.profiles, store: store, clock: clock)
      }
      var harness = try start()
      var client = try harness.connect()
      let listener = Listener()
      for step in 0..<1_500 {
        Self.stir(harness, client, &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0...9: listener.disconnect()
        case 10...29: try listener.connect(harness, resumes: Int.random(in: 0..<5, using: &random) > 0)
        case 30...39: try listener.read()
        case 40 where step.isMultiple(of: 5):
          // A crash: nothing is told to anybody.
          listener.forgetConnection()
          harness = try start()
          client = try harness.connect()
        case 41: store.dropEvents(through: store.events.last?.sequence ?? 0)
        case 42...49:
          try listener.connect(harness, resumes: true)
          try listener.read()
          try Self.expectAgreement(listener, client, step)
        default: break
        }
      }
      try listener.connect(harness, resumes: true)
      try listener.read()
      try Self.expectAgreement(listener, client, 1_500)
      #expect(listener.replays > 20)
    }
  }

  @Test func `a subscriber that reads too slowly learns it, and catches up`() async throws {
    try await OwnThread.run {
      var random = SeededGenerator(seed: 7)
      var limits = Self.limits()
      limits[.outputBytes] = 1 << 12
      let harness = try ServerHarness(limits: limits, profiles: Self.profiles)
      let client = try harness.connect()
      let listener = Listener()
      for round in 0..<3 {
        try listener.connect(harness, resumes: false)
        // More than the kernel and the queue hold.
        while harness.server.assumeIsolated({ $0.queuedBytes }) <= limits[.outputBytes] {
          Self.stir(harness, client, &random)
        }
        for _ in 0..<50 { Self.stir(harness, client, &random) }
        try listener.read()
        #expect(listener.losses == round + 1)
        try listener.connect(harness, resumes: false)
        try listener.read()
        try Self.expectAgreement(listener, client, round)
        listener.disconnect()
      }
    }
  }
}
