import BrokerCore
import SecretMemory

/// The handle of a login that waits for its user, with the client that it was begun for: three lines before the provider's
/// own handle.
struct ResourceFlow: Sendable {
  /// The client, its issuer and the resource.
  let client: TokenClient
  /// The provider's own handle.
  let inner: Secret

  /// A handle's parts.
  init(_ client: TokenClient, _ inner: Secret) {
    self.client = client
    self.inner = inner
  }

  /// Reads a handle; nil for what is none.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  init?(_ handle: Secret) throws(SecretMemoryExhausted) {
    var bytes = handle.withBytes { span in span.indices.map { span[$0] } }
    defer { wipe(&bytes) }
    var lines: [String] = []
    var rest = bytes[...]
    while lines.count < 3 {
      guard let end = rest.firstIndex(of: Self.separator) else { return nil }
      lines.append(String(decoding: rest[..<end], as: UTF8.self))
      rest = rest[(end + 1)...]
    }
    client = TokenClient(issuer: lines[0], id: lines[1], resource: lines[2])
    inner = try Secret(copying: rest.span)
  }

  private static let separator = UInt8(ascii: "\n")

  /// The handle; none of the names has a line feed in it.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  func handle() throws(SecretMemoryExhausted) -> Secret {
    var bytes: [UInt8] = []
    // Room for everything at once: a buffer that grows leaves its earlier bytes behind.
    let names = [client.issuer, client.id, client.resource]
    bytes.reserveCapacity(names.reduce(inner.byteCount) { $0 + $1.utf8.count + 1 })
    for name in names { bytes += Array(name.utf8) + [Self.separator] }
    inner.withBytes { span in for index in span.indices { bytes.append(span[index]) } }
    return try Secret(wiping: &bytes)
  }
}
