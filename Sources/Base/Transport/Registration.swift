/// The identity of one descriptor's stay in a loop.
///
/// It is never used again, unlike the descriptor's number, so an event or a late reply that is addressed to a
/// connection that has gone reaches no other.
package struct Registration: Hashable, Sendable {
  /// A place in the loop's table (low 20 bits) and a serial number that only grows (high 44 bits: at a million
  /// connections a second they last half a year).
  package let rawValue: UInt64

  /// How many bits of the identity say the place: room for a million descriptors, the usual hard limit of Linux.
  static let slotBits: UInt64 = 20

  /// The identity of a place's next tenant; `serial` must never have been used.
  init(slot: Int, serial: UInt64) {
    rawValue = serial << Registration.slotBits | UInt64(slot)
  }

  /// The identity that the kernel returned with an event; it may name none of ours.
  init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// The place in the loop's table.
  var slot: Int { Int(rawValue & (1 << Registration.slotBits - 1)) }
}
