/** Reports a provisioning round: events, metrics and nominations. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { reasonSentence } from '../../engine/explain/sentence.ts';
import type { Slices } from '../../engine/packing/work.ts';
import type { Solution } from '../../engine/solution.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { TokenBucket } from '../../platform/token-bucket.ts';
import type { BuiltProblem } from '../../state/build-problem.ts';
import type { Nominations } from '../../state/nominations.ts';
import { CLAIM_PREFIX, isComing } from '../../state/state-node.ts';
import { groupSize } from '../../state/worker-group.ts';
import type { PodMetrics } from '../metrics/pod-metrics.ts';
import { spotPolicyNotKept } from '../spot-policy/events.ts';
import type { Decision } from './decision-log.ts';
import { failedScheduling, groupOnSpot, nominated, noReplacement } from './events.ts';
import type { ProvisioningMetrics } from './metrics.ts';

export interface RoundTellerOptions {
  /** Name of the controller, for metrics. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly metrics: ProvisioningMetrics;
  readonly nominations: Nominations;
  readonly podMetrics?: Pick<PodMetrics, 'decided'>;
}

/** Yields to the event loop after this many nodes. */
const AT_A_TIME = 50;

export class RoundTeller {
  readonly #options: RoundTellerOptions;
  /** Limits Nominated events: for thousands of pods, writing them would take longer than the launch. */
  readonly #sayings: TokenBucket;

  constructor(options: RoundTellerOptions) {
    this.#options = options;
    this.#sayings = new TokenBucket({ clock: options.clock, perSecond: 2, burst: 50 });
  }

  /** Records where each pod should run, or why it is unschedulable, and nominates nodes; in slices. `claims` belong to the new nodes; `heldPools` names pools that launch nothing now. */
  *plan(
    built: BuiltProblem,
    solution: Solution,
    claims: readonly (NodeClaim | undefined)[],
    heldPools: string,
  ): Slices<void> {
    const { name: controller, recorder, nominations, metrics, podMetrics } = this.#options;
    for (const pod of built.pods) podMetrics?.decided(pod);
    yield;
    const podsOf = (numbers: readonly number[]): Pod[] => numbers.map((number) => built.pods[number] as Pod);
    const say = (pods: readonly Pod[], node: string): void => {
      const where = node.startsWith(CLAIM_PREFIX) ? node : `node/${node}`;
      // A running pod gets no event about the node that would replace its own.
      for (const pod of pods) if (!pod.spec.nodeName && this.#sayings.tryTake()) recorder.record(nominated(pod, where));
    };
    for (const [index, node] of solution.newNodes.entries()) {
      const name = claims[index]?.metadata.name;
      if (name === undefined) continue;
      say(podsOf(node.pods), `${CLAIM_PREFIX}${name}`);
      if (node.offerings[0]?.capacityType !== 'spot') continue;
      for (const pod of podsOf(node.pods)) if (groupSize(pod) > 1) recorder.record(groupOnSpot(pod, groupSize(pod)));
    }
    const coming = new Map(
      built.snapshot.nodes.flatMap((node) => (isComing(node) ? [[node.name, node.claim?.metadata.name]] : [])),
    );
    for (const [index, { node, pods }] of solution.existing.entries()) {
      const claim = coming.get(node);
      nominations.nominate(claim === undefined ? node : `${CLAIM_PREFIX}${claim}`, podsOf(pods));
      say(podsOf(pods), node);
      if (index % AT_A_TIME === AT_A_TIME - 1) yield;
    }
    for (const { pods, reason } of solution.unplaced) {
      const why = `${reasonSentence(reason)}${heldPools}`;
      for (const pod of podsOf(pods))
        recorder.record(pod.spec.nodeName ? noReplacement(pod, why) : failedScheduling(pod, why));
    }
    for (const { pod, problem } of built.held)
      recorder.record(pod.spec.nodeName ? noReplacement(pod, problem) : failedScheduling(pod, problem));
    const unplaced = solution.unplaced.reduce((sum, { pods }) => sum + pods.length, 0);
    metrics.unschedulable.set({ controller }, unplaced);
    metrics.ignored.set({}, built.held.length);
    metrics.price.set({ bound: 'plan' }, solution.price);
    metrics.price.set({ bound: 'lower' }, solution.lowerBound);
  }

  /** Clears the gauges: no pod is left to plan for. */
  nothingToPlan(): void {
    const { name: controller, metrics } = this.#options;
    metrics.unschedulable.set({ controller }, 0);
    metrics.ignored.set({}, 0);
  }

  /** Reports changes by SpotPolicies, and limits that the plan does not meet. */
  policies({ changes, gaps }: Decision['policies'], poolNamed: ReadonlyMap<string, NodePool>): void {
    for (const { sentence } of changes) this.#options.logger.debug('SpotPolicy changed the plan', { sentence });
    for (const { pool: name, sentence } of gaps) {
      const pool = poolNamed.get(name);
      if (pool !== undefined) this.#options.recorder.record(spotPolicyNotKept(pool, sentence));
    }
  }
}
