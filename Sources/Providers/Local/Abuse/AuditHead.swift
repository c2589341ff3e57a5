import SQLite
import Sealing
import SecretMemory

/// The end of the audit's chain, sealed beside the provider's keys: records that are cut off at the end are missed.
struct AuditHead: Equatable {
  /// How many bytes a link of the chain has.
  private static let chainByteCount = 32
  private static let name = "audit_head"

  /// The last record's number.
  var number: Int64
  /// The last record's chain.
  var chain: [UInt8]

  /// The head before the first record.
  static let start = AuditHead(number: 0, chain: [UInt8](repeating: 0, count: chainByteCount))

  /// The end of the chain.
  ///
  /// - Throws: `LocalStoreFault.keys` where it is missing, damaged or sealed with another key; `SQLiteError`,
  ///   `SecretMemoryExhausted`.
  static func read(_ connection: SQLiteConnection, _ key: SealingKey) throws -> AuditHead {
    let query = try connection.prepare("SELECT value FROM server_key WHERE name = ?1")
    try query.bind(name, at: 1)
    guard try query.step() else { throw LocalStoreFault.keys }
    let head = try query.withBlob(at: 0) { box in
      try RowSeal(key: key).open(box, table: LocalKeys.table, row: name)
    }
    guard head.byteCount == 8 + chainByteCount else { throw LocalStoreFault.keys }
    return head.withBytes { AuditHead($0) }
  }

  /// Writes it in place of the one before.
  ///
  /// - Throws: `SQLiteError`.
  func write(_ connection: SQLiteConnection, _ key: SealingKey) throws(SQLiteError) {
    let box = RowSeal(key: key).seal(bytes.span, table: LocalKeys.table, row: Self.name)
    let statement = try connection.prepare("REPLACE INTO server_key (name, value) VALUES (?1, ?2)")
    try statement.bind(Self.name, at: 1)
    try statement.bind(box, at: 2)
    try statement.run()
  }

  /// Eight big-endian bytes of the number, and the chain.
  private var bytes: [UInt8] {
    stride(from: Int64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) } + chain
  }
}

extension AuditHead {
  /// Reads bytes whose number was examined.
  private init(_ bytes: Span<UInt8>) {
    number = (0..<8).reduce(Int64(0)) { number, index in (number << 8) | Int64(bytes[index]) }
    chain = (8..<bytes.count).map { bytes[$0] }
  }
}
