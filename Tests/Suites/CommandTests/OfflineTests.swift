import TestSupport
import Testing

@testable import authbroker

/// A session that is `offline`: why, since when, what comes next and what to do.
@Suite(.standardTimeLimit) struct OfflineTests {
  private let scratch = Scratch()

  private static func session(_ ends: String) -> String {
    #"{"profile":"work","provider":"oidc","state":"offline","scopes":[],"refreshTokenPresent":true,"#
      + #""accessTokenExpiresAt":"\#(ends)"}"#
  }

  private static func event(_ sequence: Int, _ name: String, _ time: String, _ data: String) -> String {
    #"{"jsonrpc":"2.0","method":"event","params":{"subscriptionId":"s1","sequence":\#(sequence),"event":"\#(name)","#
      + #""profile":"work","time":"\#(time)","data":{\#(data)}}}"#
  }

  private static func failed(_ sequence: Int, _ time: String, _ kind: String, _ next: String) -> String {
    event(sequence, "refreshFailed", time, #""kind":"\#(kind)","retryable":true,"nextAttemptAt":"\#(next)""#)
  }

  private static let refreshed = event(
    11, "tokenRefreshed", "2026-01-01T10:00:00Z", #""tokenId":"t","expiresAt":"2099-01-01T00:00:00Z""#)
  private static let earlier = failed(
    10, "2026-01-01T09:00:00Z", "timeout", "2026-01-01T09:01:00Z")

  /// The events are messages of their own behind the answer; the last one's brace is that of every answer.
  private static func subscribed(_ events: [String]?) -> String {
    let resync = events == nil ? #","resync":true"# : ""
    let answer = #""result":{"subscriptionId":"s1","sequence":9000,"sessions":[]\#(resync)}}"#
    return String(([answer] + (events ?? [])).joined(separator: "\n").dropLast())
  }

  /// An owner with one session that is offline, and the events that it still knows; nil: it has none of them any more.
  private func owner(_ ends: String, events: [String]?) throws -> FakeOwner {
    try owner(of: Self.session(ends), events: events)
  }

  private func owner(of session: String, events: [String]?) throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getStatus": FakeOwner.status(profiles: session)
      case "listSessions": #""result":{"sessions":[\#(session)]}"#
      case "listPendingLogins": #""result":{"logins":[]}"#
      case "checkVault": #""result":{"ok":true,"findings":[]}"#
      case "initialize":
        #""result":{"protocolVersion":"1","server":{"name":"a","version":"1"},"capabilities":{"methods":[],"events":[],"#
          + #""framings":[],"providers":[]},"sessions":[],"sequence":9000}"#
      case "subscribe":
        Self.subscribed(events)
      default: #""result":{}"#
      }
    }
  }

  private func says(_ text: String, in owner: FakeOwner) throws {
    for words in [["status"], ["sessions"]] {
      let run = try CommandRun(words, in: scratch)
      #expect(run.code == 0 && run.output.hasSuffix("\nwork: \(text)\n"), "\(run.output)\(run.errors)")
    }
    try scratch.write("#!/bin/sh\nexit 1\n", to: "daemon")
    let run = try CommandRun(["doctor", "--no-network"], in: scratch)
    #expect(run.words.contains("\n warning work \(text)\n"), "\(run.output)")
    #expect(owner.requests.contains { $0.hasPrefix("subscribe") && $0.contains("refreshFailed") })
  }

  private var authbroker: String { "authbroker --state \(scratch.file("state"))" }

  @Test func `a reply that was lost is told, and that the refresh waits for the end of the token`() throws {
    let lost = Self.failed(12, "2026-01-01T10:05:00Z", "refreshOutcomeUnknown", "2099-01-01T00:00:00Z")
    let owner = try owner("2099-01-01T00:00:00Z", events: [Self.earlier, Self.refreshed, lost])
    try says(
      "offline since 2026-01-01 10:05: the reply to its refresh was lost, and it is not known whether the provider has "
        + "replaced the refresh token; the access token is valid until 2099-01-01 00:00, and the refresh is then "
        + "tried again; to begin a new session without waiting: \(authbroker) login --profile work",
      in: owner)
  }

  @Test func `a provider that cannot be reached is told, with the next attempt`() throws {
    let first = Self.failed(12, "2026-01-01T10:05:00Z", "timeout", "2026-01-01T10:06:00Z")
    let last = Self.failed(13, "2026-01-01T10:06:00Z", "networkUnavailable", "2098-01-01T00:00:00Z")
    let owner = try owner("2026-01-01T11:00:00Z", events: [Self.earlier, Self.refreshed, first, last])
    try says(
      "offline since 2026-01-01 10:05: the provider cannot be reached; the access token has expired, and the refresh is "
        + "tried again on 2098-01-01 00:00; see what is wrong with: \(authbroker) provider-check work",
      in: owner)
  }

  @Test(arguments: [nil, []] as [[String]?])
  func `what the broker does not know any more is not made up`(events: [String]?) throws {
    let owner = try owner("2099-01-01T00:00:00Z", events: events)
    try says(
      "offline: its last refresh returned no token, or its reply was lost; the access token is valid until "
        + "2099-01-01 00:00, and the refresh is retried automatically; see what is wrong with: "
        + "\(authbroker) provider-check work",
      in: owner)
  }

  @Test func `a beginning that is not among the known events is not guessed`() throws {
    let last = Self.failed(13, "2026-01-01T10:06:00Z", "providerUnavailable", "2026-01-01T10:07:00Z")
    let owner = try owner("2026-01-01T11:00:00Z", events: [last])
    try says(
      "offline: the provider cannot answer at the moment; the access token has expired, and the refresh is tried again when "
        + "a token is asked for; see what is wrong with: \(authbroker) provider-check work", in: owner)
  }

  @Test func `a session of a fleet that was not read yet is told as that`() throws {
    let session = #"{"profile":"work","provider":"rest","state":"offline","scopes":[],"refreshTokenPresent":false}"#
    let owner = try owner(of: session, events: [])
    try says(
      "the session was not read yet from the database of the fleet; see why with: "
        + "\(authbroker) fleet status", in: owner)
    #expect(try !CommandRun(["status"], in: scratch).output.contains("refresh token"))
  }

  @Test func `a full disk is not the provider's`() throws {
    let last = Self.failed(13, "2026-01-01T10:06:00Z", "storeFailed", "2026-01-01T10:07:00Z")
    let owner = try owner("2099-01-01T00:00:00Z", events: [last])
    try withExtendedLifetime(owner) {
      let run = try CommandRun(["sessions"], in: scratch)
      #expect(run.output.hasSuffix("; see: \(authbroker) doctor\n"), "\(run.output)")
    }
  }
}
