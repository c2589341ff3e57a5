/// A share of the connections that may be open: that of all listeners, or of some of them within it.
///
/// A listener that finds no room waits until a connection of its share has ended, and holds up no other one. Confined to
/// the thread of the listeners' loop.
package final class ConnectionShare {
  private let whole: ConnectionShare?
  /// The listeners that wait for room; the outermost share has those of all.
  private var waiting: [UnixListener] = []
  /// How many of its connections are open.
  package private(set) var open = 0
  /// How many may be.
  package var limit: Int { didSet { outermost.resumeWaiting() } }

  /// A share of so many connections; nil for `whole` makes an outermost one.
  package init(_ limit: Int, of whole: ConnectionShare? = nil) {
    self.limit = limit
    self.whole = whole
  }

  private var outermost: ConnectionShare { whole?.outermost ?? self }

  /// Whether one more connection may be opened.
  var hasRoom: Bool { open < limit && whole?.hasRoom ?? true }

  /// Notes that a connection was opened.
  func begin() {
    open += 1
    whole?.begin()
  }

  /// Notes that a connection has ended: others that wait may have room now.
  func end() {
    subtract()
    outermost.resumeWaiting()
  }

  private func subtract() {
    open -= 1
    whole?.subtract()
  }

  /// Has a listener resumed when there is room for it.
  func wait(for listener: UnixListener) { outermost.waiting.append(listener) }

  /// Forgets a listener that waits.
  func forget(_ listener: UnixListener) { outermost.waiting.removeAll { $0 === listener } }

  private func resumeWaiting() {
    guard !waiting.isEmpty else { return }
    let resumed = waiting.filter { $0.share.hasRoom }
    waiting.removeAll { $0.share.hasRoom }
    for listener in resumed { listener.resume() }
  }
}
