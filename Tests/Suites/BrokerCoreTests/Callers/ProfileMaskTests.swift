import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// Which profiles exist for a principal.
@Suite(.standardTimeLimit) struct ProfileMaskTests {
  private static func names(_ texts: [String]) -> [ProfileName] { texts.compactMap { ProfileName($0) } }

  @Test func `a mask has its own names and no others, whether they are configured or not`() throws {
    let mask = ProfileMask(Self.names(["shop", "work"]))
    #expect(Self.names(["shop", "work"]).allSatisfy(mask.includes))
    #expect(Self.names(["sho", "shop2", "default", "s"]).allSatisfy { !mask.includes($0) })
    #expect(Self.names(["shop", "any"]).allSatisfy(ProfileMask.all.includes))
    #expect(Self.names(["shop", "any"]).allSatisfy { !ProfileMask([]).includes($0) })
    #expect(ProfileMask.all.isAll && !mask.isAll && !ProfileMask([]).isAll)
  }

  @Test(
    arguments: [
      // Configured, visible (nil: all), and what a request without a name means.
      (["a"], nil, "a"), (["a", "default"], nil, "default"), (["a", "b"], nil, nil), ([], nil, nil),
      (["a", "b"], ["b"], "b"), (["a", "default"], ["a"], "a"), (["a", "default"], ["default"], "default"),
      (["a", "b", "default"], ["a", "default"], "default"), (["a", "b", "default"], ["a", "b"], nil),
      (["a"], ["b"], nil), (["a", "b"], [], nil), (["a", "b"], ["b", "gone"], "b"),
    ] as [([String], [String]?, String?)])
  func `a request without a name means the only profile that is visible, else default`(
    _ configured: [String], _ visible: [String]?, _ meant: String?
  ) {
    let index = ProfileIndex(Self.names(configured))
    let mask = visible.map { ProfileMask(Self.names($0)) } ?? .all
    #expect(index.unnamed(in: mask).map { configured[$0] } == meant)
  }

  @Test func `a profile that is hidden is not found, as one that does not exist`() {
    let index = ProfileIndex(Self.names(["a", "b"]))
    let mask = ProfileMask(Self.names(["b", "gone"]))
    func found(_ name: String) -> Int? { Array(name.utf8).withUnsafeBufferPointer { index.find($0.span, in: mask) } }
    #expect(["a", "b", "gone", "c"].map(found) == [nil, 1, nil, nil])
  }
}
