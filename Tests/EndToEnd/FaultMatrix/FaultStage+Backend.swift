import JSON
import LinuxSystem
import TestSupport

/// What is asked of the backend.
extension FaultStage {
  /// Lets refreshes go wrong, before the broker would begin one by itself.
  func misbehave(_ name: String, _ more: String = "") throws {
    if setting.backgroundRefresh { try requireLife(share: 0.75) }
    _ = try backend.ask("/misbehave", "{\"endpoint\":\"refresh\",\"name\":\"\(name)\"\(more)}")
  }

  /// Lets everything go well again.
  func behave() throws { _ = try backend.ask("/misbehave", #"{"replace":true,"steps":[]}"#) }

  /// Ends the connections that are kept open without a request, so that the next request makes a new one.
  func endConnections() throws { _ = try backend.ask("/end-connections", "{}") }

  /// Opens or closes the backend's port.
  func listen(_ isOpen: Bool) throws { _ = try backend.ask("/listen", "{\"open\":\(isOpen)}") }

  /// Waits until a request is held.
  func awaitHeld() throws {
    let held = try backend.ask("/held?waitSeconds=\(Patience.ceiling.components.seconds)").required("held").elements()
    guard held.count == 1 else { throw TestFailure("\(held.count) requests are held") }
  }

  /// Lets whoever is held go on, and waits until it has.
  func release() throws {
    _ = try backend.ask("/release", "{}")
    let deadline = Patience.end
    while try !backend.ask("/held").required("held").elements().isEmpty {
      guard BootClock.now < deadline else { throw TestFailure("a request is held for ever") }
    }
  }

  /// Waits until the backend has read everything from connections that nobody holds any more.
  func awaitSilence() throws {
    let deadline = Patience.end
    while try backend.ask("/state").required("openConnections").integer() > 0 {
      guard BootClock.now < deadline else { throw TestFailure("a connection stays open") }
    }
  }
}
