import ProviderKit

/// The name that an account is shown by, in Normalization Form C.
struct AccountName: Hashable {
  /// A name longer than that is no name.
  static let largestByteCount = 256

  /// Not empty.
  let text: String

  /// Reads a name; nil for an empty one, one that is too long, or one with characters that steer a terminal, hide or
  /// reorder what is read (CVE-2021-42574).
  init?(_ input: String) {
    let composed = input.composed
    guard !composed.isEmpty, composed.utf8.count <= Self.largestByteCount, SanitizedText(composed).isUnchanged else {
      return nil
    }
    text = composed
  }
}
