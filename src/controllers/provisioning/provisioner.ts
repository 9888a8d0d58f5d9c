/**
 * Makes nodes for pods that have no place: gathers a batch, takes a snapshot, asks the engine, and writes a claim for each
 * node it wants. What it wrote and why is kept in the decision log.
 */

import { NODE_CLAIMS, type NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { KubeObject } from '../../apis/kubernetes/object.ts';
import type { CloudProvider } from '../../cloud/provider.ts';
import { reasonSentence } from '../../engine/explain/sentence.ts';
import type { NewNode, Solution } from '../../engine/solution.ts';
import { solveSteps } from '../../engine/solve.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { Clock } from '../../platform/clock.ts';
import { asError } from '../../platform/errors.ts';
import { type Logger, SILENT_LOGGER } from '../../platform/logger.ts';
import { Metrics } from '../../platform/metrics.ts';
import { type BuiltProblem, buildProblem } from '../../state/build-problem.ts';
import type { ClusterState } from '../../state/cluster-state.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import { Batcher } from './batcher.ts';
import { claimForNode } from './claim-for-node.ts';
import type { DecisionLog } from './decision-log.ts';
import { failedScheduling, noCompatibleInstanceTypes, nominated } from './events.ts';
import { isUsable } from './is-usable.ts';
import { type ProvisioningMetrics, provisioningMetrics } from './metrics.ts';

export interface ProvisionerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly state: ClusterState;
  readonly provider: CloudProvider;
  readonly recorder: EventRecorder;
  readonly decisions: DecisionLog;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  readonly batchIdleMs?: number;
  readonly batchMaxMs?: number;
  /** How long the engine may improve a plan. */
  readonly solveMs?: number;
  /** How much work it may put into that, whatever the time: on a virtual clock no time passes while it works. */
  readonly solveSteps?: number;
  /** How long a cloud may take to say what it sells before its pools are left out of this batch. */
  readonly instanceTypesMs?: number;
}

const NAME = 'provisioner';

export class Provisioner {
  readonly name = NAME;
  readonly #options: ProvisionerOptions;
  readonly #logger: Logger;
  readonly #metrics: ProvisioningMetrics;
  readonly #batcher: Batcher;

  constructor(options: ProvisionerOptions) {
    const { clock, batchIdleMs = 1000, batchMaxMs = 10_000 } = options;
    this.#options = options;
    this.#logger = (options.logger ?? SILENT_LOGGER).with({ controller: NAME });
    this.#metrics = provisioningMetrics(options.metrics ?? new Metrics());
    this.#batcher = new Batcher({ clock, idleMs: batchIdleMs, maxMs: batchMaxMs });
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, state } = this.#options;
    const stops = this.#listen();
    try {
      while (!signal.aborted) {
        await this.#batcher.next(signal);
        const pending = state.provisionable().length;
        if (pending === 0) continue;
        try {
          await this.provision(signal);
        } catch (error) {
          if (signal.aborted) return;
          this.#logger.error('provisioning failed', { error: asError(error) });
          await clock.sleep(1000, signal);
          this.#batcher.trigger();
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      for (const stop of stops) stop();
    }
  }

  /** One round: everything that is pending now. */
  async provision(signal: AbortSignal): Promise<void> {
    const { state, clock, decisions } = this.#options;
    const startedAt = clock.elapsed();
    const pools = await this.#pools(signal);
    const built = buildProblem({
      pending: state.provisionable(),
      nodes: state.nodes(),
      podsOn: (node) => state.podsOn(node),
      daemonSets: state.informers.daemonSets.list(),
      pools,
      namespaces: state.informers.namespaces.list(),
      storage: state.storage,
    });
    const solution = await this.#solve(built, signal);
    const poolNamed = new Map(pools.map(({ pool }) => [pool.metadata.name ?? '', pool]));
    const claims = await Promise.all(
      solution.newNodes.map((node) => this.#create(node, poolNamed.get(node.pool) as NodePool, built, signal)),
    );
    this.#tell(built, solution, claims);
    decisions.add({ at: clock.now(), built, solution, claims });
    const seconds = (clock.elapsed() - startedAt) / 1000;
    this.#metrics.duration.observe({ controller: NAME }, seconds);
    this.#logger.info('found places for pods', {
      pods: built.pods.length,
      onExistingNodes: solution.existing.reduce((sum, { pods }) => sum + pods.length, 0),
      newNodes: solution.newNodes.length,
      withoutPlace: solution.unplaced.reduce((sum, { pods }) => sum + pods.length, 0),
      pricePerHour: solution.price,
      lowerBound: solution.lowerBound,
      seconds,
    });
  }

  /** In slices, so that leases and probes are served meanwhile. */
  async #solve(built: BuiltProblem, signal: AbortSignal): Promise<Solution> {
    const { clock, solveMs = 1000, solveSteps: maxSteps = 50_000_000 } = this.#options;
    const startedAt = clock.elapsed();
    const elapsedMs = (): number => clock.elapsed() - startedAt;
    const slices = solveSteps(built.problem, { elapsedMs, deadlineMs: solveMs, maxSteps });
    for (;;) {
      const slice = slices.next();
      if (slice.done === true) return slice.value;
      await clock.sleep(0, signal);
    }
  }

  /** The pools that can make nodes, and what their cloud sells. One that does not answer is left out, not waited for. */
  async #pools(signal: AbortSignal): Promise<UsablePool[]> {
    const { state, provider, recorder, clock, instanceTypesMs = 5000 } = this.#options;
    const pools = state.informers.nodePools.list().filter(isUsable);
    const found = await Promise.all(
      pools.map(async (pool) => {
        const limit = clock.deadline(instanceTypesMs, signal);
        try {
          const instanceTypes = await provider.instanceTypes(pool.spec.template.spec.nodeClassRef, limit.signal);
          if (instanceTypes.length > 0) return [{ pool, instanceTypes }];
          recorder.record(noCompatibleInstanceTypes(pool, 'the node class sells nothing'));
        } catch (error) {
          if (signal.aborted) throw error;
          this.#logger.error('pool is left out', { NodePool: { name: pool.metadata.name }, error: asError(error) });
          recorder.record(noCompatibleInstanceTypes(pool, asError(error).message));
        } finally {
          limit.cancel();
        }
        return [];
      }),
    );
    return found.flat();
  }

  /** One claim that cannot be written does not keep the others from being written. */
  async #create(
    node: NewNode,
    pool: NodePool,
    built: BuiltProblem,
    signal: AbortSignal,
  ): Promise<NodeClaim | undefined> {
    const { client, state } = this.#options;
    try {
      const claim = await client.create(NODE_CLAIMS, claimForNode(node, pool, built.cloudName), { signal });
      state.assume(claim);
      const labels = { reason: 'provisioned', nodepool: node.pool, min_values_relaxed: 'false' };
      this.#metrics.created.add(labels);
      return claim;
    } catch (error) {
      if (signal.aborted) throw error;
      this.#logger.error('claim could not be written', { NodePool: { name: node.pool }, error: asError(error) });
      this.#batcher.trigger();
      return undefined;
    }
  }

  #tell(built: BuiltProblem, solution: Solution, claims: readonly (NodeClaim | undefined)[]): void {
    const { recorder } = this.#options;
    const nominate = (pods: readonly number[], where: string): void => {
      for (const number of pods) {
        const pod = built.pods[number];
        if (pod !== undefined) recorder.record(nominated(pod, where));
      }
    };
    for (const [index, node] of solution.newNodes.entries()) {
      const name = claims[index]?.metadata.name;
      if (name !== undefined) nominate(node.pods, `nodeclaim/${name}`);
    }
    for (const { node, pods } of solution.existing) nominate(pods, node.includes('/') ? node : `node/${node}`);
    for (const { pods, reason } of solution.unplaced) {
      const why = reasonSentence(reason);
      for (const number of pods) {
        const pod = built.pods[number];
        if (pod !== undefined) recorder.record(failedScheduling(pod, why));
      }
    }
    for (const { pod, problem } of built.held) recorder.record(failedScheduling(pod, problem));
    const unplaced = solution.unplaced.reduce((sum, { pods }) => sum + pods.length, 0);
    this.#metrics.unschedulable.set({ controller: NAME }, unplaced);
    this.#metrics.ignored.set({}, built.held.length);
    this.#metrics.price.set({ bound: 'plan' }, solution.price);
    this.#metrics.price.set({ bound: 'lower' }, solution.lowerBound);
  }

  /** What can change where pods have a place: the pods, the pools, and nodes that go. */
  #listen(): (() => void)[] {
    const { informers } = this.#options.state;
    const trigger = (): void => this.#batcher.trigger();
    const changed = <T extends KubeObject>() => ({ added: trigger, updated: (_: T) => trigger() });
    return [
      informers.pods.addHandler(changed()),
      informers.nodePools.addHandler(changed()),
      informers.nodes.addHandler({ deleted: trigger }),
      informers.nodeClaims.addHandler({ deleted: trigger }),
      ...[...informers.nodeClasses.values()].map((informer) => informer.addHandler(changed())),
    ];
  }
}
