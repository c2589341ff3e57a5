import BrokerProtocol
import JSON
import SecretMemory

/// How the reply to a refresh is sure of its place in memory, before the token is sent that it answers for.
extension Broker {
  /// Sets room aside for the reply to a flight, unless that was done; where there is none, the machine is told.
  ///
  /// - Returns: whether there is room.
  func reserveRoom(for flight: UInt64, on slot: ProfileSlot) -> Bool {
    if slot.room != nil { return true }
    guard let tokens = slot.machine.living?.tokens else { return true }
    do throws(SecretMemoryExhausted) {
      slot.room = try SecretReservation(forByteCounts: Self.replyByteCounts(tokens))
      return true
    } catch {
      let id = slot.id
      // Behind what was decided before it.
      inBackground {
        { broker in
          guard let slot = broker.holder(id) else { return }
          broker.handle(.noRoom(flight: flight, jitter: broker.entropy.fraction()), on: slot)
        }
      }
      return false
    }
  }

  /// The least that is set aside for a token, so that an opaque one may become somewhat longer.
  private static let leastTokenRoom = 256

  /// How long the secrets of a refresh may be: the new tokens are seldom twice as long as those before them, and the
  /// request holds the refresh token, of which each byte may be written as three.
  ///
  /// A reply with longer ones finds other room, or waits for it.
  private static func replyByteCounts(_ tokens: TokenSet) -> [Int] {
    let known = [tokens.accessToken, tokens.refreshToken, tokens.idToken].compactMap { $0?.byteCount }
    let request = 3 * (tokens.refreshToken?.byteCount ?? 0) + 2 * leastTokenRoom
    return known.map { min(max(2 * $0, leastTokenRoom), JSONNode.tokenByteLimit) } + [request]
  }
}
