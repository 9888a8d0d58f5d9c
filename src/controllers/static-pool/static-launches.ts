/**
 * Launches the nodes that static pools lack. It runs in each provisioning round before pods are planned: the plan for pods then counts
 * on these nodes, and only the provisioner creates claims for missing capacity.
 */

import { isStaticPool } from '../../apis/karpenter/is-static-pool.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Clouds } from '../../cloud/clouds.ts';
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
  readonly clouds: Pick<Clouds, 'isOurs'>;
  readonly guard: Pick<LaunchGuard, 'launches'>;
  readonly solve: Solve;
}

export class StaticLaunches {
  readonly #options: StaticLaunchesOptions;

  constructor(options: StaticLaunchesOptions) {
    this.#options = options;
  }

  /** Nodes that static pools lack now, also those that cannot be launched yet. */
  get missing(): number {
    const { clouds, state } = this.#options;
    const pools = state.informers.nodePools
      .list()
      .filter((pool) => isStaticPool(pool) && pool.metadata.deletionTimestamp === undefined && clouds.isOurs(pool));
    if (pools.length === 0) return 0;
    const nodes = state.nodes();
    return pools.reduce((sum, pool) => sum + staticCount(pool, nodes).missing, 0);
  }

  /** Launches what these pools lack, within their limits. */
  async launch(pools: readonly UsablePool[], signal: AbortSignal): Promise<void> {
    for (const usable of pools) await this.#launchFor(usable, signal);
  }

  async #launchFor(usable: UsablePool, signal: AbortSignal): Promise<void> {
    const { clock, state, recorder, guard, launcher, logger, solve } = this.#options;
    const { pool } = usable;
    const name = pool.metadata.name ?? '';
    const nodes = state.nodes();
    const { missing } = staticCount(pool, nodes);
    if (missing === 0) return;
    if (!guard.launches(name)) {
      recorder.record(replicasMissing(pool, missing, 'the latest machines never joined the cluster'));
      return;
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
  }
}
