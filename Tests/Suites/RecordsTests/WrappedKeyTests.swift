import BrokerProtocol
import Records
import Sealing
import SecretMemory
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct WrappedKeyTests {
  private let dataKey: SealingKey
  private let kek: SealingKey
  private let vaultID = [UInt8](1...16)
  private let derivation: KeyDerivation.Parameters

  init() throws {
    try Sealing.initialize()
    dataKey = try .random()
    kek = try .random()
    derivation = try .init(passes: 2, memoryKiB: 65536, salt: Array(0...15))
  }

  private func wrapped(_ source: KeySourceName = .passphrase) -> WrappedKey {
    .wrap(dataKey, with: kek, source: source, derivation: source == .file ? nil : derivation, vaultID: vaultID)
  }

  private func changed(
    id: SealingKey.ID? = nil, source: KeySourceName = .passphrase, derivation: KeyDerivation.Parameters?,
    box: [UInt8]? = nil
  ) -> WrappedKey {
    WrappedKey(dataKeyID: id ?? dataKey.id, source: source, derivation: derivation, box: box ?? wrapped().box)
  }

  private func error(_ wrapped: WrappedKey, _ vaultID: [UInt8]? = nil) -> KeyRingError? {
    keyRingError { _ = try wrapped.unwrap(with: kek, vaultID: vaultID ?? self.vaultID) }
  }

  @Test(arguments: KeySourceName.allCases) func `what is wrapped opens`(_ source: KeySourceName) throws {
    let wrapped = wrapped(source)
    #expect(wrapped.dataKeyID == dataKey.id && wrapped.source == source)
    #expect(try wrapped.keyEncryptionKeyID() == kek.id)
    let opened = try wrapped.unwrap(with: kek, vaultID: vaultID)
    #expect(opened.id == dataKey.id && opened.secret == dataKey.secret)
    #expect(wrapped.box.count == 32 + 58 && wrapped != self.wrapped(source))
  }

  /// Computed once by another implementation: they rest in people's vaults, and a later version reads them too.
  private static let knownBoxes: [(source: KeySourceName, cost: (passes: Int, memoryKiB: Int)?, end: String)] = [
    (.file, nil, "cecf8efb7d57189bdd84ae266cdb555a0e"),
    (.passphrase, (3, 262_144), "ce8db8b6245d42f322cbb37a006cf734e5"),
  ]

  @Test(arguments: knownBoxes.indices) func `a key of the first format opens for ever`(_ index: Int) throws {
    let known = Self.knownBoxes[index]
    let box = hexadecimal(
      "01016fc20cbc3597173e53983352040135b40102030405060708090a0b0c0d0e0f101112131415161718"
        + "efbe22eb54b313cf1ce60d46857c12ac0dde9884c2026a8841748c44f4b644" + known.end)
    let derivation = try known.cost.map {
      try KeyDerivation.Parameters(passes: $0.passes, memoryKiB: $0.memoryKiB, salt: Array(0...15))
    }
    let stored = WrappedKey(
      dataKeyID: try SealingKey.ID(bytes: hexadecimal("f63a9308bac39bb241617633360f0771")), source: known.source,
      derivation: derivation, box: box)
    let kek = try SealingKey(Secret(copying: [UInt8](0x80...0x9f).span))
    let opened = try stored.unwrap(with: kek, vaultID: vaultID)
    #expect(try opened.secret == Secret(copying: [UInt8](0x20...0x3f).span))
  }

  private func hexadecimal(_ digits: String) -> [UInt8] {
    let values = digits.compactMap(\.hexDigitValue).map(UInt8.init)
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
  }

  @Test func `another key is told from damage`() throws {
    let wrapped = wrapped()
    #expect(keyRingError { _ = try wrapped.unwrap(with: .random(), vaultID: vaultID) } == .wrongKey)
  }

  @Test func `every flipped bit is noticed`() {
    let box = wrapped().box
    for index in box.indices {
      for bit in 0..<8 {
        var flipped = box
        flipped[index] ^= 1 << UInt8(bit)
        // Two bytes of format, then the name of the key that it needs.
        let expected = (2..<18).contains(index) ? KeyRingError.wrongKey : .damaged
        #expect(error(changed(derivation: derivation, box: flipped)) == expected, "byte \(index)")
      }
    }
  }

  @Test func `no part of a box opens, and nothing longer`() {
    let box = wrapped().box
    for count in box.indices {
      #expect(error(changed(derivation: derivation, box: Array(box.prefix(count)))) == .damaged)
    }
    #expect(error(changed(derivation: derivation, box: box + [0])) == .damaged)
    #expect(keyRingError { _ = try changed(derivation: nil, box: []).keyEncryptionKeyID() } == .damaged)
  }

  @Test func `it opens in its own place only`() throws {
    let own = wrapped()
    #expect(error(own) == nil)
    for foreign in [[], Array(own.box.prefix(16)), Array(vaultID.dropLast()), vaultID + [0], vaultID.reversed()] {
      #expect(error(own, foreign) == .damaged)
    }
    for source in KeySourceName.allCases where source != .passphrase {
      #expect(error(changed(source: source, derivation: derivation, box: own.box)) == .damaged)
    }
    let others = [
      try KeyDerivation.Parameters(passes: 3, memoryKiB: 65536, salt: derivation.salt),
      try KeyDerivation.Parameters(passes: 2, memoryKiB: 65537, salt: derivation.salt),
      try KeyDerivation.Parameters(passes: 2, memoryKiB: 65536, salt: derivation.salt.reversed()),
    ]
    for other in others { #expect(error(changed(derivation: other, box: own.box)) == .damaged) }
    #expect(error(changed(derivation: nil, box: own.box)) == .damaged)
    #expect(error(changed(id: kek.id, derivation: derivation, box: own.box)) == .damaged)
  }

  @Test func `something else that was sealed under the same key is no data key`() throws {
    var place = AssociatedData()
    place.append("elsewhere")
    let box = dataKey.secret.withBytes { SealedBox.seal($0, context: place, key: kek) }
    #expect(error(changed(derivation: derivation, box: box)) == .damaged)
  }

  @Test func `no description shows a key`() throws {
    var dumped = ""
    let key = try SealingKey(Secret(utf8: String(repeating: "q", count: 32)))
    dump(KeyEncryptionKey(key: key, source: .file, derivation: nil), to: &dumped)
    #expect(dumped.contains("<redacted>") && !dumped.contains("qqqq") && !dumped.contains("113"))
  }
}
