/**
 * Launches the nodes that static pools lack. It is part of each round of provisioning, before pods are placed: pods then count on
 * these nodes, and only one part of the program writes claims for what is missing.
 */

import { isStaticPool } from '../../apis/karpenter/is-static-pool.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { reasonSentence } from '../../engine/explain/sentence.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { ClusterState } from '../../state/cluster-state.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import type { Solve } from '../disruption/place-elsewhere.ts';
import { isLost } from '../interruption/is-lost.ts';
import type { LaunchGuard } from '../provisioning/launch-guard.ts';
import type { NodeLauncher } from '../provisioning/node-launcher.ts';
import { spotPolicyNotKept } from '../spot-policy/events.ts';
import { replicasMissing } from './events.ts';
import { replicaSnapshot } from './replica-snapshot.ts';
import { staticCount } from './static-count.ts';

export interface StaticLaunchesOptions {
  readonly clock: Clock;
  readonly state: ClusterState;
  readonly recorder: EventRecorder;
  readonly logger: Logger;
  readonly launcher: Pick<NodeLauncher, 'launch'>;
  readonly guard: Pick<LaunchGuard, 'launches' | 'heldPools'>;
  readonly solve: Solve;
}

export class StaticLaunches {
  readonly #options: StaticLaunchesOptions;
  #short = 0;

  constructor(options: StaticLaunchesOptions) {
    this.#options = options;
  }

  /** How many nodes were still missing after the latest launch. */
  get short(): number {
    return this.#short;
  }

  /** Whether any static pool lacks nodes: quick to tell. */
  get isMissingAny(): boolean {
    const { informers } = this.#options.state;
    const pools = informers.nodePools.list().filter(isStaticPool);
    if (pools.length === 0) return false;
    const nodes = this.#options.state.nodes();
    return pools.some((pool) => staticCount(pool, nodes).missing > 0);
  }

  /** Launches what these pools lack, within their limits. */
  async launch(pools: readonly UsablePool[], signal: AbortSignal): Promise<void> {
    let short = 0;
    for (const usable of pools) short += await this.#launchFor(usable, signal);
    this.#short = short;
  }

  /** Gives how many nodes of the pool are still missing. */
  async #launchFor(usable: UsablePool, signal: AbortSignal): Promise<number> {
    const { clock, state, recorder, guard, launcher, logger, solve } = this.#options;
    const { pool } = usable;
    const name = pool.metadata.name ?? '';
    const nodes = state.nodes();
    const { missing } = staticCount(pool, nodes);
    if (missing === 0) return 0;
    if (!guard.launches(name)) {
      recorder.record(replicasMissing(pool, missing, 'the latest machines never joined the cluster'));
      return missing;
    }
    const lost = (claim: NodeClaim): boolean => isLost(claim, clock.now());
    const snapshot = replicaSnapshot(usable, missing, { state, nodes, isLost: lost });
    const { built, solution, gaps } = await solve(snapshot, signal);
    const { claims } = await launcher.launch({ newNodes: solution.newNodes, built, pools: [usable] }, signal);
    const launched = claims.filter((claim) => claim !== undefined).length;
    const [unplaced] = solution.unplaced;
    if (unplaced !== undefined)
      recorder.record(replicasMissing(pool, missing - launched, reasonSentence(unplaced.reason)));
    for (const { sentence } of gaps) recorder.record(spotPolicyNotKept(pool, sentence));
    if (launched > 0)
      logger.info('nodes of a static pool launched', { NodePool: { name }, launched, replicas: pool.spec.replicas });
    return missing - launched;
  }
}
