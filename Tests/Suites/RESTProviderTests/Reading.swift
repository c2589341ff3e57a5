import BrokerCore
import BrokerProtocol
import JSON
import ProviderKit

@testable import RESTProvider

/// When the replies of the pure tests come: sent at a round moment, answered two seconds later.
let sentAt = Timestamp(milliseconds: 1_800_000_000_000)

/// Reads a reply that came two seconds after its request.
func reader(
  _ json: String, paths: RESTReplyPaths = RESTMapping.standard.reply, serverTime: Timestamp? = nil
) throws -> ReplyReader {
  let moments = ReplyMoments(sentAt: sentAt, receivedAt: sentAt + .seconds(2), serverTime: serverTime)
  let document = try JSONDocument(
    parsing: Array(json.utf8), limits: JSONLimits(depth: 64, byteCount: 1 << 20, toleratesLargeNumbers: true))
  return ReplyReader(root: document.root, paths: paths, moments: moments)
}
