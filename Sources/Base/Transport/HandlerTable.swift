import LinuxSystem

/// The registered handlers: found by place, and accepted only if the whole identity fits.
struct HandlerTable {
  /// One registered descriptor and its handler.
  struct Entry {
    /// The whole identity: events that carry another one were meant for an earlier tenant of this place.
    let registration: Registration
    /// The kernel's number, needed to change or end the waiting; the descriptor itself is its handler's.
    let descriptor: Int32
    /// The handler; kept alive until the entry is removed.
    let handler: any EventHandler
    /// The events that are waited for at present.
    var interest: ReadyEvents
    /// A regular file: epoll does not take it (`EPERM`), reading and writing never wait.
    let isAlwaysReady: Bool
  }

  private var slots: [Entry?] = []
  private var free: [Int] = []
  private var serial: UInt64 = 0

  /// How many descriptors are registered.
  var count: Int { slots.count - free.count }

  /// The identity that the next insertion has to use.
  mutating func nextRegistration() -> Registration {
    serial += 1
    if let slot = free.last { return Registration(slot: slot, serial: serial) }
    precondition(slots.count < 1 << Registration.slotBits, "more descriptors than the kernel can give")
    return Registration(slot: slots.count, serial: serial)
  }

  /// Fills the place that ``nextRegistration()`` just named; nothing may be inserted in between.
  mutating func insert(_ entry: Entry) {
    let slot = entry.registration.slot
    if slot == slots.count {
      slots.append(entry)
    } else {
      free.removeLast()
      slots[slot] = entry
    }
  }

  /// The entry of a registration; nil once it was removed, also where another one has its place.
  @inline(__always)
  subscript(_ registration: Registration) -> Entry? {
    let slot = registration.slot
    guard slot < slots.count, let entry = slots[slot], entry.registration == registration else { return nil }
    return entry
  }

  /// Notes the events that are waited for from now on; the registration must be in the table.
  mutating func setInterest(_ interest: ReadyEvents, of registration: Registration) {
    slots[registration.slot]?.interest = interest
  }

  /// Takes an entry out and frees its place; nil if that was done before.
  mutating func remove(_ registration: Registration) -> Entry? {
    guard let entry = self[registration] else { return nil }
    slots[registration.slot] = nil
    free.append(registration.slot)
    return entry
  }
}
