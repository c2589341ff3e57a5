import BrokerCore
import BrokerProtocol
import JSON
import ProviderKit

/// The account of a reply.
extension ReplyReader {
  /// The longest name of an account at its provider: four times a UUID, and short enough for every event.
  private static let longestUserID = 256

  /// The account: the object at `user`, or with `orRoot` the whole reply where there is none.
  ///
  /// - Parameter orRoot: for replies that are about nothing but the account.
  /// - Returns: nil where there is no account with a usable name; every text is fit to be seen.
  func user(orRoot: Bool) -> User? {
    guard let object = values(.user).first(where: { $0.kind == .object }) ?? (orRoot ? root : nil) else { return nil }
    let inner = ReplyReader(root: object, paths: paths, moments: moments)
    guard let id = inner.values(.userId).lazy.compactMap(Self.userID).first else { return nil }
    return User(
      id: id, email: inner.text(.email), emailVerified: inner.value(.emailVerified).flatMap { try? $0.bool() },
      name: inner.text(.name),
      phoneNumberMasked: inner.value(.phoneNumber).flatMap { node in
        let masked = (try? node.string()).map { MaskedDestination($0).text } ?? ""
        return masked.isEmpty ? nil : masked
      },
      claims: UserClaims.claims(of: object, besides: mappedNames))
  }

  /// The members of a reply that have a meaning of their own, and are no attributes of the user.
  private var mappedNames: Set<String> {
    var names: Set<String> = ["success"]
    for member in RESTReplyPaths.Member.allCases { names.formUnion(paths[member].compactMap(\.names.first)) }
    return names
  }

  /// The backend's name for the account: it must need no sanitising, since a changed one could be another user's.
  private static func userID(_ node: JSONNode) -> String? {
    if node.kind == .integer { return String(decoding: node.text, as: UTF8.self) }
    guard let text = try? node.string(), !text.isEmpty, text.utf8.count <= longestUserID,
      SanitizedText(text).isUnchanged
    else { return nil }
    return text
  }
}
