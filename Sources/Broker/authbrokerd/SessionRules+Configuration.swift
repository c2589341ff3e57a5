import BrokerCore
import Configuration

extension SessionRules {
  /// What a profile's section says of its sessions.
  init(_ profile: ProfileConfiguration) {
    self.init(
      expiry: ExpiryPolicy(skew: profile.refreshSkew, refreshesInBackground: profile.backgroundRefresh),
      rotation: profile.rotation, rotationGrace: profile.rotationGrace, idleTimeout: profile.idleTimeout,
      keepAlive: profile.keepAlive, revocation: profile.revocation)
  }
}
