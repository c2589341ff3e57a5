/// Something that one call waits at until a test opens it.
///
/// An actor on an executor that is shut: whoever waits comes back on the loop of the test, and by no other way.
actor RedirectGate {
  private nonisolated let gate: GateExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { gate.asUnownedSerialExecutor() }

  /// A shut gate.
  init(_ gate: GateExecutor) {
    self.gate = gate
    gate.shut()
  }

  /// Returns once the gate is open.
  func pass() {}

  /// Lets everybody go on.
  nonisolated func open() { gate.open() }
}
