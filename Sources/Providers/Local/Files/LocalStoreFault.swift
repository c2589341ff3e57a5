/// A fault of the provider's files that no retry fixes.
enum LocalStoreFault: Error, Equatable {
  /// The database held something and holds nothing any more, or is gone.
  case emptied
  /// The database contradicts itself.
  case damaged
  /// The file of that name is no private regular file of this user.
  case notOurs(name: String)
  /// The keys in the database are missing, damaged, or sealed with the key of another vault.
  case keys

  /// One sentence.
  var message: String {
    switch self {
    case .emptied:
      "Its database local-provider/db.sqlite in the state directory had content before, and is now empty or missing."
    case .damaged: "Its database local-provider/db.sqlite in the state directory is damaged."
    case .notOurs(let name):
      "local-provider/\(name) in the state directory is not a regular file that belongs to this user alone."
    case .keys: "Its keys in local-provider/db.sqlite are damaged, or were encrypted for another vault."
    }
  }

  /// The advice.
  var advice: String {
    switch self {
    case .emptied, .damaged:
      "Restore the directory local-provider from a backup, or move it away and register the accounts again."
    case .notOurs: "Remove it, or restore it from a backup."
    case .keys:
      "Restore the vault that it was used with, or create new keys, which keeps the accounts and ends all their sessions: "
        + "create the empty file local-provider/\(LocalFiles.renewalName) in the state directory and try again."
    }
  }
}
