import { withConditions } from '../../apis/karpenter/condition-changes.ts';
import { SPOT_POLICIES, SPOT_POLICY_CONDITIONS, type SpotPolicyStatus } from '../../apis/spindrift/spot-policy.ts';
import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts';
import type { WorkQueue } from '../../kube/work-queue.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import { countFleet } from './count-fleet.ts';
import { decidePolicy } from './decide-policy.ts';
import type { RiskKeeper } from './risk-keeper.ts';
import { writeRisks } from './risk-status.ts';

export interface SpotPolicyStatusOptions extends ControllersOptions {
  readonly risk: RiskKeeper;
}

/** Gathers changes of nodes into one count. */
const GATHER_MS = 1000;
/** Risk decays without an event. */
const LOOK_AGAIN_MS = 60_000;

/** Writes the status of each SpotPolicy: its NodePools, their node counts, and the riskiest spot pools. */
export class SpotPolicyStatusController {
  readonly name = 'spotpolicy.status';
  readonly #options: SpotPolicyStatusOptions;
  readonly #controller: InformedController;

  constructor(options: SpotPolicyStatusOptions) {
    this.#options = options;
    this.#controller = new InformedController(options, {
      name: this.name,
      listen: (queue) => this.#listen(queue),
      reconcile: (name, context) => this.#reconcile(name, context),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  /** Each policy depends on all others, on all NodePools, and on all nodes. */
  #listen(queue: WorkQueue): (() => void)[] {
    const { spotPolicies, nodePools, nodeClaims } = this.#options.state.informers;
    const all = (): void => {
      for (const { metadata } of spotPolicies.list()) queue.add(metadata.name ?? '', { afterMs: GATHER_MS });
    };
    const handler = { added: all, updated: all, deleted: all };
    return [spotPolicies.addHandler(handler), nodePools.addHandler(handler), nodeClaims.addHandler(handler)];
  }

  async #reconcile(name: string, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { state, writes, risk, clock } = this.#options;
    const { spotPolicies } = state.informers;
    const policy = writes.newest(spotPolicies.get(name));
    if (policy === undefined) return undefined;
    const { nodePools, conditions } = decidePolicy(policy, spotPolicies.list(), state.informers.nodePools.list());
    const status: SpotPolicyStatus = {
      nodePools,
      nodes: this.#count(nodePools),
      riskiest: writeRisks(risk.known(), policy.status?.riskiest),
      conditions: withConditions(SPOT_POLICY_CONDITIONS, policy, conditions, clock.now()),
    };
    if (!isSame(policy.status, status)) {
      await writes.patch(SPOT_POLICIES, policy, { status }, { signal, subresource: 'status' });
    }
    return { requeueAfterMs: LOOK_AGAIN_MS };
  }

  #count(nodePools: readonly string[]): NonNullable<SpotPolicyStatus['nodes']> {
    const sum = { spot: 0, onDemand: 0, reserved: 0 };
    const counts = countFleet(this.#options.state.nodes());
    for (const pool of nodePools) {
      const { nodes = 0, onDemand = 0, reserved = 0 } = counts.get(pool) ?? {};
      sum.spot += nodes - onDemand;
      sum.onDemand += onDemand - reserved;
      sum.reserved += reserved;
    }
    return sum;
  }
}

function isSame(before: SpotPolicyStatus | undefined, after: SpotPolicyStatus): boolean {
  const { spot, onDemand, reserved } = before?.nodes ?? {};
  return (
    before !== undefined &&
    // Unchanged lists keep their identity.
    before.conditions === after.conditions &&
    before.riskiest === after.riskiest &&
    before.nodePools?.join() === after.nodePools?.join() &&
    spot === after.nodes?.spot &&
    onDemand === after.nodes?.onDemand &&
    reserved === after.nodes?.reserved
  );
}
