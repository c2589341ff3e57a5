import LinuxSystem

/// The processes that have connected lately, each held for as long as it lives: one that connects again and again is asked
/// for once.
struct HeldPeers {
  /// The most processes that are held at a time: each takes a descriptor.
  private static let most = 16

  /// A process that is known.
  private struct Held {
    let handle: ProcessHandle
    let entrance: Entrance
    let user: UInt32?
    /// Its control group then; nil where the kernel does not tell.
    let group: UInt64?
    let peer: PeerProcess
    var audited: AuditedConnection?
  }

  private var held: [Int32: Held] = [:]
  private var units = ProcessUnits()

  /// Asks the kernel about the process at the other end of a connection; nil where it cannot be asked.
  mutating func peer(
    _ process: Int32, _ entrance: Entrance, _ user: UInt32?, at stream: some ClientStream,
    acceptedAt acceptance: Duration
  ) -> PeerProcess? {
    if let known = known(process, entrance, user), let group = known.group, known.handle.group == group {
      return known.peer
    }
    guard let (peer, handle) = stream.identifyPeer(process, acceptedAt: acceptance, &units) else { return nil }
    // A label may change with each program that a process executes.
    guard let handle, peer.label == nil else { return peer }
    let before = known(process, entrance, user)
    if held.count >= Self.most { held = [:] }
    held[process] = Held(
      handle: handle, entrance: entrance, user: user, group: handle.group, peer: peer,
      audited: before?.peer == peer ? before?.audited : nil)
    return peer
  }

  private func known(_ process: Int32, _ entrance: Entrance, _ user: UInt32?) -> Held? {
    guard let held = held[process], held.user == user, held.entrance == entrance else { return nil }
    return held
  }

  /// The name in the audit of a process that has come by the same way before, and lives; `peer` is the process as it was
  /// identified for this connection, nil where it was not.
  func audited(_ process: Int32, _ entrance: Entrance, _ user: UInt32?, as peer: PeerProcess?) -> AuditedConnection? {
    guard let known = known(process, entrance, user), let audited = known.audited else { return nil }
    if let peer { return peer == known.peer ? audited : nil }
    return known.handle.exists ? audited : nil
  }

  /// Remembers the name in the audit of a process that was identified, where it is held.
  mutating func note(
    _ audited: AuditedConnection, of process: Int32, _ entrance: Entrance, _ user: UInt32?, as peer: PeerProcess?
  ) {
    guard let known = known(process, entrance, user), known.peer == peer else { return }
    held[process]?.audited = audited
  }
}
