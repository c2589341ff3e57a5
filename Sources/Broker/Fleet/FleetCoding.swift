import BrokerCore
import BrokerProtocol
import JSON
import Records
import Sealing
import SecretMemory

/// The flight that a member has begun: the intent to spend the refresh token, and its lease.
struct FleetFlight: Equatable {
  /// The member.
  var holder: [UInt8]
  /// When the token was about to be sent, by the member's clock.
  var startedAt: Timestamp
  /// The generation of the record whose refresh token it is.
  var generation: UInt64
  /// When the lease ends, by the clock of the store, in milliseconds.
  var leaseEnd: Int64

  /// Whether the token may have been spent before: the time says nothing then.
  var isReplay: Bool {
    RefreshIntent(profile: .default, generation: generation, startedAt: startedAt).followsLostReply
  }
}

/// The newest of a session that a member has read or written.
struct FleetMark: Equatable {
  /// The version of the row.
  let version: Int64
  /// The generation of the record.
  let generation: UInt64
  /// A digest of the contents of the record: each generation has one.
  let digest: [UInt8]

  /// Whether what is found now is of an earlier time, or of one in which this has never been.
  func isAhead(of found: FleetMark) -> Bool {
    guard found.generation == generation else { return found.generation < generation }
    return found.version < version || found.digest != digest
  }

  /// The most by which a version is drawn above the earlier ones.
  private static let widestStep: Int64 = 1 << 10

  /// A version for the next write, above the earlier ones.
  ///
  /// It grows with the time, in milliseconds: a write has no version of one that was lost before, when the store went back.
  ///
  /// - Returns: nil where there is none any more.
  static func version(after last: Int64, at time: Int64) -> Int64? {
    let now = min(max(time, 0), Int64.max / widestStep - 1) * widestStep
    let (version, isOver) = max(last, now).addingReportingOverflow(Int64.random(in: 1...widestStep))
    return isOver ? nil : version
  }
}

/// A session of the fleet as it was opened.
struct FleetEntry {
  /// The generation of the record.
  var generation: UInt64
  /// The contents of the record: the JSON of `SessionContentsCoding`.
  var contents: Secret
  /// How far the clock of its times was ahead of the store's, in milliseconds.
  var clockAhead: Int64
  /// The flight under way; nil where none is.
  var flight: FleetFlight?
  /// The sealed contents as they were read, in which the tokens rest; nil for new ones.
  var sealed: SealedContents?

  /// An entry.
  init(generation: UInt64, contents: Secret, clockAhead: Int64, flight: FleetFlight? = nil) {
    (self.generation, self.contents, self.clockAhead, self.flight) = (generation, contents, clockAhead, flight)
  }
}

/// The coding of a session of the fleet, as one row holds it.
///
/// ```
/// u8 format = 1 ‖ u64 generation ‖ 16 bytes binding tag ‖ i64 clock ‖ u8 flights ‖ u32 length ‖ sealed contents ‖ sealed flight
/// ```
/// Both boxes are bound to fleet, profile, binding, version, generation, clock and the number of flights, so that none of that
/// can be exchanged, and no earlier row put in the place of a later one. Numbers are big-endian.
struct FleetCoding {
  private static let format: UInt8 = 1
  private static let tagByteCount = 16
  private static let headByteCount = 1 + 8 + tagByteCount + 8 + 1 + 4
  /// How many random bytes name a member.
  static let holderByteCount = 16
  private static let flightByteCount = holderByteCount + 24

  /// The fleet.
  let fleet: String
  /// Seals and opens.
  let seal: VaultSeal

  /// Why a row cannot be used.
  enum Fault: Error {
    /// It is of another provider, client or address; the generation of its record.
    case otherBinding(UInt64)
    /// It is not what a member has written, or another key is needed.
    case damaged
    /// There is no memory for it now.
    case noRoom
  }

  private func tag(of binding: ProviderBinding) -> [UInt8] {
    // No part of a binding has a NUL.
    let parts = ["AuthBroker fleet binding 1", binding.type, binding.issuer, binding.clientID]
    return digest(of: Array(parts.joined(separator: "\0").utf8).span)
  }

  private func digest(of bytes: Span<UInt8>) -> [UInt8] {
    // A data key has as many bytes as the hash takes.
    (try? KeyedHash(key: seal.key.secret))?.digest(of: bytes, count: Self.tagByteCount) ?? []
  }

  /// The mark of a session in a version of its row.
  func mark(of entry: FleetEntry, version: Int64) -> FleetMark {
    FleetMark(
      version: version, generation: entry.generation, digest: entry.contents.withBytes { digest(of: $0) })
  }

  private func place(
    _ part: String, _ profile: ProfileName, _ binding: ProviderBinding, _ numbers: [Int64]
  ) -> SealedPlace {
    SealedPlace(
      table: "fleet \(part) \(fleet)", row: profile.description, format: Int64(Self.format), binding: binding,
      numbers: numbers)
  }

  /// Seals a session for a version of its row.
  func encode(
    _ entry: FleetEntry, of profile: ProfileName, _ binding: ProviderBinding, version: Int64
  ) -> [UInt8] {
    let hasFlight = entry.flight != nil
    let numbers = [version, Int64(bitPattern: entry.generation), entry.clockAhead, hasFlight ? 1 : 0]
    let place = { (part: String) in self.place(part, profile, binding, numbers) }
    let contents = entry.contents.withBytes { seal.seal($0, at: place("session")) }
    var bytes = [Self.format] + Self.bytes(of: entry.generation) + tag(of: binding)
    bytes += Self.bytes(of: UInt64(bitPattern: entry.clockAhead)) + [hasFlight ? 1 : 0]
    bytes += Self.bytes(of: UInt32(contents.count))
    bytes += contents
    guard let flight = entry.flight else { return bytes }
    let plain =
      flight.holder + Self.bytes(of: UInt64(bitPattern: flight.startedAt.milliseconds))
      + Self.bytes(of: flight.generation) + Self.bytes(of: UInt64(bitPattern: flight.leaseEnd))
    return bytes + seal.seal(plain.span, at: place("flight"))
  }

  /// Opens a row.
  ///
  /// - Throws: ``Fault``.
  func decode(
    _ row: SharedRow, of profile: ProfileName, _ binding: ProviderBinding
  ) throws(Fault) -> FleetEntry {
    let bytes = row.bytes
    guard bytes.count >= Self.headByteCount, bytes[0] == Self.format else { throw .damaged }
    let generation = Self.number(bytes[1..<9])
    guard Array(bytes[9..<9 + Self.tagByteCount]) == tag(of: binding) else { throw .otherBinding(generation) }
    let clockAhead = Int64(bitPattern: Self.number(bytes[(Self.headByteCount - 13)..<(Self.headByteCount - 5)]))
    let hasFlight = bytes[Self.headByteCount - 5] == 1
    let end = Self.headByteCount + Int(Self.number(bytes[(Self.headByteCount - 4)..<Self.headByteCount]))
    guard end <= bytes.count, hasFlight == (end < bytes.count) else { throw .damaged }
    let numbers = [row.version, Int64(bitPattern: generation), clockAhead, hasFlight ? 1 : 0]
    let place = { (part: String) in self.place(part, profile, binding, numbers) }
    let box = Array(bytes[Self.headByteCount..<end])
    let contents = try open(box, at: place("session"))
    var entry = FleetEntry(generation: generation, contents: contents, clockAhead: clockAhead)
    entry.sealed = SealedContents(box: box, OpenedRow(place: place("session"), plaintext: contents, seal: seal))
    guard hasFlight else { return entry }
    let plain = try open(Array(bytes[end...]), at: place("flight")).withBytes { Array(copying: $0) }
    guard plain.count == Self.flightByteCount else { throw .damaged }
    let times = (0..<3).map { index in
      let start = Self.holderByteCount + 8 * index
      return Self.number(plain[start..<start + 8])
    }
    entry.flight = FleetFlight(
      holder: Array(plain[..<Self.holderByteCount]), startedAt: Timestamp(milliseconds: Int64(bitPattern: times[0])),
      generation: times[1], leaseEnd: Int64(bitPattern: times[2]))
    return entry
  }

  private func open(_ box: [UInt8], at place: SealedPlace) throws(Fault) -> Secret {
    do throws(SealingError) {
      return try seal.open(box.span, at: place)
    } catch .secretMemoryExhausted {
      throw .noRoom
    } catch {
      throw .damaged
    }
  }

  private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
    stride(from: number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
