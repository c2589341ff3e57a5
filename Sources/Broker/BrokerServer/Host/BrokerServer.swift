package import BrokerCore
import Logging
package import Transport

/// Serves clients: accepts connections, moves their bytes in turns within limits, and ends in order.
///
/// An actor on the loop, as the broker is: a request that needs no I/O is read, decided and answered in one turn. One
/// readable connection costs one read, the answers to all complete messages, and one send. The meaning of the bytes is
/// the protocol's business: the functions of ``Connection`` that it overrides, and those of ``RPC``.
package actor BrokerServer: LoopResident {
  /// The executor that the actor runs on.
  package nonisolated let loop: EventLoop
  // The loop is kept alive by the property above for as long as the actor lives.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  /// Enforces limits, and counts refusals.
  let ledger: LimitLedger
  /// The present limits: those of the ledger, where every turn finds them.
  package private(set) var limits: Limits
  /// The log.
  let log: Logger
  /// The connections for which the loop has announced something.
  let announced = ReadyConnections()
  /// The open connections.
  var connections = NamedTable<ClientID, Connection>(ClientID.init)
  /// The time of the turn at hand.
  var clock: TurnClock
  /// The present turn, and the queue of connections that wait for one.
  var turns: Turns
  /// The memory that connections use one after the other.
  var buffers: Buffers
  /// Whether the connection that holds most has its turn: it is examined when that is over.
  var mustShed = false
  /// The listeners.
  var listeners: [Entrance: UnixListener] = [:]
  /// The connections that these may have open.
  let shares: ListenerShares
  /// The permissions of clients.
  package internal(set) var access = AccessTable()
  /// The processes of clients.
  var heldPeers = HeldPeers()
  /// The clients as the audit names them.
  var auditClients = AuditClients()
  /// The end of the server.
  var end = Ending()
  /// The protocol on the connections.
  var rpc: RPC

  /// A server without connections.
  init(
    _ loop: EventLoop, _ rpc: consuming RPC, _ limits: Limits, _ ledger: LimitLedger, _ log: Logger, _ clock: TurnClock
  ) {
    self.loop = loop
    self.rpc = rpc
    self.limits = limits
    self.ledger = ledger
    ledger.limits = limits
    self.log = log
    self.clock = clock
    shares = ListenerShares(limits[.connections])
    turns = Turns(limits)
    buffers = Buffers(limits)
  }

  /// Applies other bounds; connections that are open keep the length of message that they began with.
  package func setLimits(_ limits: Limits) {
    self.limits = limits
    ledger.limits = limits
    turns.setLimits(limits)
    buffers = Buffers(limits)
    shares.setLimit(limits[.connections], listeners)
    rpc.tokens.setLimits(limits)
  }

  /// Does something after a while.
  func schedule(after delay: Duration, _ body: @escaping @Sendable (isolated BrokerServer) -> Void) -> TimerID {
    loop.schedule(after: delay) { [weak self] in self?.assumeIsolated(body) }
  }

  /// Does something behind the events of this turn, or of the next one.
  func post(_ body: @escaping @Sendable (isolated BrokerServer) -> Void) {
    loop.post { [weak self] in self?.assumeIsolated(body) }
  }

  /// Cancels a timer, if there is one.
  func cancel(_ timer: inout TimerID?) {
    guard let scheduled = timer else { return }
    loop.cancel(scheduled)
    timer = nil
  }

  /// How many connections are open.
  package var connectionCount: Int { connections.all.count }
  /// How many bytes wait for clients that do not take them.
  package var queuedBytes: Int { connections.all.reduce(0) { $0 + $1.output.count } }
  /// Whether connections wait for their turn.
  package var hasQueue: Bool { !turns.isEmpty }
  /// Whether the path of the broker's own socket is one that this process made.
  package var ownsSocketPath: Bool { listeners[.socket]?.ownsPath ?? false }
  /// Whether the path of a socket still leads to it.
  package func isInPlace(_ entrance: Entrance = .socket) -> Bool { listeners[entrance]?.isInPlace ?? true }
}

/// A table of open entries, by names that are never reused.
struct NamedTable<Name: Hashable, Entry> {
  private var entries: [Name: Entry] = [:]
  private var named: UInt64 = 0
  private let name: (UInt64) -> Name

  /// A table whose names are made of numbers.
  init(_ name: @escaping (UInt64) -> Name) { self.name = name }

  /// The name of a new entry.
  mutating func nextName() -> Name {
    named += 1
    return name(named)
  }

  /// The entry of a name; nil where it is closed.
  subscript(name: Name) -> Entry? {
    get { entries[name] }
    _modify { yield &entries[name] }
  }

  /// Closes an entry; nil where it was closed.
  mutating func remove(_ name: Name) -> Entry? { entries.removeValue(forKey: name) }

  /// Each of them.
  var all: Dictionary<Name, Entry>.Values { entries.values }
}
