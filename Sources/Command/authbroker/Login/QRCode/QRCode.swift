/// A QR code (ISO/IEC 18004): bytes as a square of dark and light modules.
///
/// It has error correction level M, which restores 15 % of the codewords, and the smallest version that holds the bytes.
/// It is never wiped: it is for what a person is shown anyway.
struct QRCode: Equatable {
  /// How many modules each side has.
  let size: Int
  private let modules: [Bool]

  /// Encodes bytes in byte mode; nil for more than the largest version holds, 2331.
  init?(_ bytes: Span<UInt8>) {
    guard let version = QRVersion.smallest(forByteCount: bytes.count) else { return nil }
    let drawing = QRDrawing(version, QRCodewords.make(bytes, version))
    let candidates = QRMask.all.map(drawing.masked)
    guard let best = candidates.min(by: { $0.penalty < $1.penalty }) else { return nil }
    size = best.size
    modules = best.modules
  }

  /// Whether the module in a column and a row is dark, counted from the upper left; those beyond the sides are light.
  func isDark(_ x: Int, _ y: Int) -> Bool {
    (0..<size).contains(x) && (0..<size).contains(y) && modules[y * size + x]
  }
}
