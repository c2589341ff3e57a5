import JSON
import LinuxSystem
import TestSupport
import Testing

/// A broker on a small disk, its provider on another one, and a client that is told everything.
final class DiskStage {
  let disk: SmallDisk
  private let remote: SmallDisk
  private let sandbox: Sandbox
  private(set) var owner: Program
  private(set) var wire: SocketWire
  private(set) var watcher: SocketWire

  init(_ sandbox: Sandbox) throws {
    self.sandbox = sandbox
    disk = try SmallDisk(sandbox, at: sandbox.state, kilobytes: 4096)
    remote = try SmallDisk(sandbox, at: sandbox.state + "/local-provider", kilobytes: 16_384)
    owner = try sandbox.owner()
    wire = try SocketWire(sandbox.socket)
    try wire.register()
    watcher = try SocketWire(sandbox.socket)
    _ = try watcher.call("subscribe")
  }

  /// Kills the broker, and starts the next one.
  func restart() throws {
    sandbox.bury(owner)
    owner = try sandbox.owner()
    wire = try SocketWire(sandbox.socket)
    watcher = try SocketWire(sandbox.socket)
    _ = try watcher.call("subscribe")
  }

  /// Ends the broker in order.
  func stop() throws {
    try owner.send(.terminate)
    #expect(try owner.wait() == 0, "\(owner.errorText)")
  }

  /// Fills the disk until a login is refused.
  ///
  /// A broker may have kept some room for such a day; with that it can go on for a while.
  ///
  /// - Returns: how the login was refused; nil if it never was.
  func fillUp() throws -> String? {
    for _ in 0..<5 {
      try disk.fill()
      let account = #"{"email":"ada@example.com","password":"example password 1"}"#
      if let kind = try wire.refusal("login", account) { return kind }
    }
    return nil
  }

  /// By how many pages a refresh makes the write-ahead log longer.
  func pagesOfRefresh() throws -> Int {
    let log = sandbox.state + "/vault.sqlite-wal"
    let before = try FileStatus.ofLink(log).size
    _ = try refresh()
    // A frame is a page with a header of 24 bytes (sqlite.org/fileformat2.html).
    return Int(try FileStatus.ofLink(log).size - before) / (4096 + 24)
  }

  /// Refreshes with room for what is written before the provider is asked, and not for what it answers.
  ///
  /// The room may go to what the broker still has to write of the login that was refused: then there is another try. A
  /// refresh takes so many pages.
  func refreshUnstored(_ pages: Int) throws -> String {
    let isServed = try Patience.wait {
      try disk.fill()
      _ = try told()
      try disk.release(pages: pages - 1)
      return try wire.refusal("getAccessToken", #"{"forceRefresh":true}"#) == nil && isDegraded
    }
    guard isServed else { throw TestFailure("no refresh could be begun, or each was stored") }
    return try wire.accessToken()
  }

  var session: JSONNode { get throws { try wire.call("getSession") } }

  var isDegraded: Bool { get throws { try session["storeDegraded"]?.bool() ?? false } }

  func refresh() throws -> String {
    try wire.call("getAccessToken", #"{"forceRefresh":true}"#).required("accessToken").string()
  }

  /// The events that were told up to now.
  func told() throws -> [String] {
    var names: [String] = []
    try watcher.send(Array(#"{"jsonrpc":"2.0","id":"now","method":"ping"}"#.utf8))
    while case let message = try watcher.nextNode(), message["id"] == nil { names.append(try Self.name(message)) }
    return names
  }

  /// Waits for an event of a name; everything that came before it.
  func await(_ name: String) throws -> [String] {
    var names: [String] = []
    repeat { names.append(try Self.name(try watcher.nextNode())) } while names.last != name
    return names
  }

  private static func name(_ message: JSONNode) throws -> String {
    try message.required("params").required("event").string()
  }
}
