/// Finds the steps of a run that a violation hangs on.
struct Shrinker {
  /// How many runs it may take: a run of a few hundred steps takes a fraction of a second.
  static let budget = 200

  private var runs = 0

  /// Runs a plan to its end; what was violated, or nil.
  static func run(_ plan: Simulation.Plan) -> Violation? {
    let simulation = Simulation(plan)
    do throws(Violation) {
      try simulation.run()
      return nil
    } catch {
      return error
    }
  }

  /// Leaves out as many steps as it can while the same rule is violated.
  mutating func shrink(_ plan: Simulation.Plan, _ violation: Violation) -> Simulation.Plan {
    var plan = plan
    plan.steps = min(plan.steps, violation.step + 1)
    var size = max(plan.steps / 2, 1)
    while size >= 1, runs < Self.budget {
      var start = 0
      while start < plan.steps, runs < Self.budget {
        let range = start..<min(start + size, plan.steps)
        start += size
        guard range.contains(where: { !plan.skipped.contains($0) }) else { continue }
        var shorter = plan
        shorter.skipped.formUnion(range)
        runs += 1
        if Self.run(shorter)?.rule == violation.rule { plan = shorter }
      }
      size = size == 1 ? 0 : size / 2
    }
    return plan
  }

  /// What a person reads: the seed, the rule, and the last lines of what happened.
  static func report(_ plan: Simulation.Plan, _ violation: Violation) -> String {
    var shrinker = Shrinker()
    let shorter = shrinker.shrink(plan, violation)
    let simulation = Simulation(shorter, tracing: true)
    var last = violation
    do throws(Violation) {
      try simulation.run()
    } catch {
      last = error
    }
    let lines = simulation.trace.last(60).joined(separator: "\n  ")
    let kept = shorter.steps - shorter.skipped.count
    return
      "seed \(plan.seed): \(last)\n  (first seen as \(violation); \(kept) steps of \(plan.steps) are left)\n  \(lines)"
  }
}
