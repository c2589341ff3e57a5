/// The parts of a row of a session, before anything of it is opened.
///
/// ```
/// u8 format = 1 ‖ 16 bytes key ‖ u64 generation ‖ i64 clock ‖ u8 flights ‖ u32 length ‖ u32 length
///   ‖ sealed binding ‖ sealed contents ‖ sealed flight
/// ```
/// The lengths are those of the first two boxes; numbers are big-endian.
struct FleetRowParts {
  /// The format that this version writes, and reads.
  static let format: UInt8 = 1
  private static let headByteCount = 1 + FleetKey.idByteCount + 8 + 8 + 1 + 4 + 4

  /// The name of the data key that it is sealed under: see ``FleetKey``.
  var key: [UInt8]
  /// The generation of the record.
  var generation: UInt64
  /// How far the clock of its times was ahead of the store's, in milliseconds.
  var clockAhead: Int64
  /// Whether a flight is under way.
  var hasFlight: Bool
  /// The sealed provider, client and address.
  var binding: [UInt8] = []
  /// The sealed contents of the record.
  var contents: [UInt8] = []
  /// The sealed flight; empty where none is under way.
  var flight: [UInt8] = []

  /// Parts without boxes yet.
  init(key: [UInt8], generation: UInt64, clockAhead: Int64, hasFlight: Bool) {
    (self.key, self.generation, self.clockAhead, self.hasFlight) = (key, generation, clockAhead, hasFlight)
  }

  /// Takes a row apart; nil for one of another form.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.headByteCount, bytes[0] == Self.format, bytes[33] <= 1 else { return nil }
    key = Array(bytes[1..<17])
    generation = BigEndian.number(bytes[17..<25])
    clockAhead = Int64(bitPattern: BigEndian.number(bytes[25..<33]))
    hasFlight = bytes[33] == 1
    let contentsStart = Self.headByteCount + Int(BigEndian.number(bytes[34..<38]))
    let flightStart = contentsStart + Int(BigEndian.number(bytes[38..<42]))
    guard flightStart <= bytes.count, hasFlight == (flightStart < bytes.count) else { return nil }
    binding = Array(bytes[Self.headByteCount..<contentsStart])
    contents = Array(bytes[contentsStart..<flightStart])
    flight = Array(bytes[flightStart...])
  }

  /// The row.
  var encoded: [UInt8] {
    var bytes = [Self.format] + key + BigEndian.bytes(of: generation)
    bytes += BigEndian.bytes(of: UInt64(bitPattern: clockAhead)) + [hasFlight ? 1 : 0]
    bytes += BigEndian.bytes(of: UInt32(binding.count)) + BigEndian.bytes(of: UInt32(contents.count))
    return bytes + binding + contents + flight
  }
}

/// Numbers, the most significant byte first.
enum BigEndian {
  /// The bytes of a number.
  static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
    stride(from: number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  /// The number of eight bytes at most.
  static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
