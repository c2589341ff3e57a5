package import BrokerCore
import BrokerProtocol
import Synchronization

/// The hints of the place on what other members have written, until the broker takes them up.
final class FleetNews: Sendable {
  private struct State {
    var tell: (@Sendable () -> Void)?
    var news = RecordNews()
    var isTold = false
    var isLost = false
    var isWatching = false
  }

  private let state = Mutex(State())

  /// Whether the place tells now.
  var isTold: Bool { state.withLock { $0.isTold } }

  /// Whether the place has told before, and does not now.
  var isLost: Bool { state.withLock { $0.isLost } }

  /// Has the broker told where there is something to be taken out.
  func watch(_ tell: @escaping @Sendable () -> Void) { state.withLock { $0.tell = tell } }

  /// True once.
  func beginWatching() -> Bool {
    state.withLock { state in
      defer { state.isWatching = true }
      return !state.isWatching
    }
  }

  /// Takes out what there is.
  func take() -> RecordNews {
    state.withLock { state in
      defer { state.news = RecordNews() }
      return state.news
    }
  }

  /// Takes in a hint; `isNews` says whether a version of a profile is not known yet.
  func note(_ telling: SharedTelling, isNews: (ProfileName, Int64) -> Bool) {
    var profile: ProfileName?
    if case .written(let name, let version) = telling {
      // The key of the fleet has another name, and so may what is not this broker's.
      profile = ProfileName(name)
      if let profile, !isNews(profile, version) { return }
    }
    let tell = state.withLock { state -> (@Sendable () -> Void)? in
      let wasEmpty = state.news.isEmpty
      switch telling {
      case .began: (state.isTold, state.isLost, state.news.mayBeOfAll) = (true, false, true)
      case .ended: (state.isTold, state.isLost, state.news.mayBeOfAll) = (false, true, true)
      case .everything: state.news.mayBeOfAll = true
      case .written: if let profile { state.news.profiles.insert(profile) } else { state.news.mayBeOfAll = true }
      }
      return wasEmpty ? state.tell : nil
    }
    tell?()
  }
}

extension FleetStore {
  /// Whether the place tells of writes now.
  package var isTold: Bool { news.isTold }

  /// Has the broker told where ``takeNews()`` has something.
  package func watch(_ tell: @escaping @Sendable () -> Void) { news.watch(tell) }

  /// Takes out what was told.
  package func takeNews() -> RecordNews { news.take() }

  /// Has the place tell, once.
  func listen() async {
    guard news.beginWatching() else { return }
    await record.watch { [weak self] telling in
      guard let self else { return }
      news.note(telling) { profile, version in self.isUnknown(version, of: profile) }
    }
  }
}
