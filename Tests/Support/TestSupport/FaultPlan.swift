import CFaultVFS

/// Lets the storage below one directory fail, for every SQLite database that is opened there from now on.
///
/// Operations that change a file are counted from 1: making, writing, synchronising, truncating and deleting it. To try
/// all of them, run a scenario once without a fault, ask for ``operationCount``, and run it again for each number, in a
/// new directory and with a new plan. Plans of other directories are not disturbed. The plan ends with its last
/// reference, or with ``disarm()``; connections that are still open go on without it, unless the power was cut.
package final class FaultPlan {
  /// How storage fails.
  package enum Fault: CaseIterable {
    /// The device refuses.
    case io
    /// The device refuses; of a write, the first half is there all the same.
    case tornIO
    /// There is no room.
    case full
    /// There is no room for the second half of a write.
    case tornFull
    /// The power goes: nothing works any more, and of what was not synchronised, blocks of 512 bytes are kept or lost
    /// as chance has it. The next connection sees what is left.
    case powerCut
  }

  /// What an operation does.
  package enum Operation: UInt8 {
    /// Makes a file.
    case create = 0x6F
    /// Writes.
    case write = 0x77
    /// Waits until everything is on the disk.
    case synchronize = 0x73
    /// Cuts a file.
    case truncate = 0x74
    /// Deletes a file.
    case delete = 0x64
  }

  // Used on whatever thread has the plan: the functions behind it take a lock.
  private let plan: OpaquePointer
  private var isArmed = true

  /// Watches what is opened below a directory, which exists; nothing fails yet.
  package init(prefix directory: String) {
    guard let plan = cfault_arm(directory) else { preconditionFailure("\(directory) cannot be watched") }
    self.plan = plan
  }

  deinit { disarm() }

  /// Chooses the operation that fails; to be called before the database is opened where the power is to be cut.
  ///
  /// - Parameters:
  ///   - operation: counted from 1.
  ///   - fault: how it fails.
  ///   - repeatedly: whether those behind it fail too, for ever.
  ///   - seed: decides what a power cut leaves.
  /// - Returns: this plan.
  @discardableResult
  package func failing(
    operation: Int, with fault: Fault, repeatedly: Bool = false, seed: UInt64 = 0
  ) -> FaultPlan {
    let kind =
      switch fault {
      case .io, .tornIO: CFAULT_IO
      case .full, .tornFull: CFAULT_FULL
      case .powerCut: CFAULT_POWER
      }
    let isTorn = fault == .tornIO || fault == .tornFull
    cfault_fail(plan, Int64(operation), Int32(kind.rawValue), repeatedly ? 1 : 0, isTorn ? 1 : 0, seed)
    return self
  }

  /// Lets nothing fail any more, as when there is room again; counting goes on.
  package func recover() { cfault_fail(plan, 0, 0, 0, 0, 0) }

  /// How many operations there were.
  package var operationCount: Int { Int(cfault_count(plan)) }

  /// How many operations failed.
  package var failureCount: Int { Int(cfault_failures(plan)) }

  /// What the operations were, in order.
  package var operations: [Operation] {
    (0..<operationCount).compactMap {
      Operation(rawValue: UInt8(truncatingIfNeeded: cfault_kind_of(plan, Int64($0 + 1))))
    }
  }

  /// Ends the plan.
  package func disarm() {
    guard isArmed else { return }
    isArmed = false
    cfault_disarm(plan)
  }
}
