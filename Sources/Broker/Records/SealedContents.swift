import Sealing
import SecretMemory
import TextCoding

/// The sealed contents of a session in ordinary memory, as they were read: its tokens rest in them, and are opened on use.
///
/// The row was opened and compared with the manifest when it was read, so each token is what was written last. It is
/// opened with the data key of that time, which lies in locked memory for as long as a token needs it.
package final class SealedContents: Sendable {
  /// The longest contents that are opened for each of their tokens; the tokens of longer ones rest by themselves.
  private static let longest = 16 << 10

  private let box: [UInt8]
  private let place: SealedPlace
  private let seal: VaultSeal
  private let byteCount: Int

  /// The contents of a row's box.
  package init(box: [UInt8], _ row: OpenedRow) {
    self.box = box
    place = row.place
    seal = row.seal
    byteCount = row.plaintext.byteCount
  }

  /// A token that rests.
  ///
  /// - Parameter text: base64url; its indices are those of the plaintext.
  /// - Returns: nil where it cannot rest: it is to be decoded then, which also tells what is wrong with it.
  func token(encodedAs text: ArraySlice<UInt8>) -> Secret? {
    guard byteCount <= Self.longest, Base64.isURLForm(text.span) else { return nil }
    let count = Base64.byteCount(ofURLForm: text.count)
    return Secret(resting: SealedToken(contents: self, range: text.startIndex..<text.endIndex), byteCount: count)
  }

  /// Decodes a part of the contents.
  fileprivate func open(_ range: Range<Int>, into output: inout MutableSpan<UInt8>) -> Bool {
    var isAuthentic = false
    let box = box
    let sealed = box.span
    let plaintext = Secret.opening(byteCount: byteCount) { plaintext in
      isAuthentic = seal.open(sealed, at: place, into: &plaintext)
    }
    guard isAuthentic else { return false }
    return plaintext.withBytes { bytes in Base64.decodeURLForm(bytes.extracting(range), into: &output) }
  }
}

/// One token in the sealed contents of its session.
private final class SealedToken: RestingSource {
  private let contents: SealedContents
  /// The position of its characters in the plaintext.
  private let range: Range<Int>

  init(contents: SealedContents, range: Range<Int>) {
    self.contents = contents
    self.range = range
  }

  func open(into output: inout MutableSpan<UInt8>) -> Bool { contents.open(range, into: &output) }
}
