/// placeholder
final class RedirectListeners: Sendable {}
