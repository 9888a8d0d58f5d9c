/** Checks what may be disrupted: holds, policies, pods that must stay, and the budgets of pods and pools over the whole plan. */
import type { Fleet, FleetPod } from '../consolidation/fleet.ts';
import type { Move } from '../consolidation/plan.ts';
import type { FleetLedger } from './fleet-ledger.ts';
import type { Report } from './violation.ts';

/** Counts disruptions over the moves of one plan. */
export class DisruptionRules {
  readonly #fleet: Fleet;
  readonly #evictions = new Map<number, number>();
  /** By pool, for all reasons: each removed node counts against the budgets of every reason. */
  readonly #disruptions = new Map<string | undefined, number>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Checks the nodes that a move removes, and the pods that run on them now. */
  check(subject: string, move: Move, ledger: FleetLedger, report: Report): void {
    for (const name of move.nodes) {
      const node = ledger.asFound(name);
      const pods = ledger.podsOn(name);
      const disruption = this.#fleet.poolDisruption.find(({ pool }) => pool === node?.pool);
      if (node?.hold !== undefined) report('untouchable', subject, `${name} is held: ${node.hold}`);
      if (node?.blockedBy !== undefined) report('untouchable', subject, `${name} is kept by ${node.blockedBy.pod}`);
      if (node?.settling === true && move.newNodes.length > 0) {
        report('untouchable', subject, `${name} took the place of others not long ago, and a node is launched for it`);
      }
      if (disruption === undefined) report('untouchable', subject, `${name} is of no pool that is consolidated`);
      if (disruption?.policy === 'WhenEmpty' && pods.length > 0) report('untouchable', subject, `${name} is not empty`);
      if ((move.reason === 'Empty') !== (move.landings.length === 0)) {
        report('untouchable', subject, `the reason ${move.reason} does not fit ${move.landings.length} landings`);
      }
      if (move.reason !== 'Empty' && pods.length === 0) {
        report('untouchable', subject, `${name} is empty, and goes with nodes that are not`);
      }
      for (const pod of pods) this.#checkPod(subject, pod, report);
      const count = (this.#disruptions.get(node?.pool) ?? 0) + 1;
      this.#disruptions.set(node?.pool, count);
      const allowed = disruption?.allowed?.[move.reason];
      if (allowed !== undefined && count > allowed) {
        report(
          'pool-budget',
          subject,
          `${count} nodes of pool ${node?.pool} are disrupted with ${name}, as ${move.reason} ${allowed} may be`,
        );
      }
    }
  }

  #checkPod(subject: string, pod: FleetPod, report: Report): void {
    if (pod.doNotDisrupt === true) report('untouchable', subject, `${pod.name} must not be disrupted`);
    if (pod.stuck !== undefined) report('untouchable', subject, `${pod.name} could not run elsewhere`);
    const budgets = pod.disruptionBudgets ?? [];
    if (budgets.length > 1)
      report('disruption-budget', subject, `${pod.name} has several budgets and cannot be evicted`);
    for (const budget of budgets) {
      const count = (this.#evictions.get(budget) ?? 0) + 1;
      this.#evictions.set(budget, count);
      const { name, allowed } = this.#fleet.disruptionBudgets?.[budget] ?? { name: `${budget}`, allowed: 0 };
      if (count > allowed)
        report('disruption-budget', subject, `${count} evictions of ${name}, ${allowed} are allowed`);
    }
  }
}
