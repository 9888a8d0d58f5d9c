/**
 * Decides when to plan a consolidation: when provisioning has assigned a node to every displaced and pending pod, and the moves that were
 * begun before are done. After a plan that found nothing, planning waits for a change in the cluster, in prices, or by time.
 */
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { Fleet } from '../../../engine/consolidation/fleet.ts';
import { type Clock, type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import type { BuiltFleet } from '../../../state/build-fleet.ts';
import { type ClusterState, isReschedulable } from '../../../state/cluster-state.ts';
import { isComing, isGoing } from '../../../state/state-node.ts';
import type { UsablePool } from '../../../state/usable-pool.ts';
import type { Rounds } from '../../provisioning/rounds.ts';
import type { Look } from '../look.ts';
import type { ChangeStamp } from './change-stamp.ts';

export interface GroundOptions {
  readonly clock: Clock;
  readonly state: ClusterState;
  readonly rounds: Pick<Rounds, 'covers'>;
  readonly stamp: Pick<ChangeStamp, 'value'>;
}

/** A provisioning round collects and places pods within this time. */
export const ROUND_MS = 12_000;
/** The longest wait for a quiet cluster: some are never quiet. */
const LONGEST_WAIT_MS = 60_000;
const LOOK_AGAIN_MS = 1000;
/** The longest wait for moves that were begun together. */
const LONGEST_WAVE_MS = 300_000;
/**
 * Consolidation waits this long for held nodes that may be disrupted soon, if they are more than a few of the nodes that the pods need. A
 * plan cannot replace a held node, and the scheduler fills it meanwhile with pods that the plan has places for on other nodes. Where the load has fallen to a fifth, one node in a hundred is a twentieth of the fleet that is left.
 */
const MOMENT_MS = 10_000;
const MANY = 0.02;
/** The end of a nomination raises no event. */
const NOMINATED_AGAIN_MS = 2000;
const LONGEST_GATHERING_MS = 30_000;

/** The instance types at the time of a plan. Lists are replaced, never changed, so identity tells whether they are new. */
type Sold = readonly (readonly unknown[])[];

/** The state in which a plan found nothing to do. */
interface Nothing {
  readonly stamp: number;
  readonly sold: Sold;
  readonly until: number;
}

export class Ground {
  readonly #options: GroundOptions;
  #begunAt = Number.NEGATIVE_INFINITY;
  #nothing: Nothing | undefined;
  #unsettledSince: number | undefined;
  #gatheringSince: number | undefined;

  constructor(options: GroundOptions) {
    this.#options = options;
  }

  /** Grows with every change that a plan depends on. */
  get stamp(): number {
    return this.#options.stamp.value;
  }

  /** Records that moves have begun. */
  begun(): void {
    this.#begunAt = this.#options.clock.elapsed();
  }

  /** Whether to wait, and until when if no event will end the wait. `wave` are the claims of the moves begun last. */
  waits(look: Look, wave: ReadonlySet<string>): { readonly until: EpochMs | undefined } | undefined {
    // The deletion of their claims wakes us.
    if (this.#isUnderWay(look, wave)) return { until: undefined };
    return this.#isSettled(look) ? undefined : { until: (look.now + LOOK_AGAIN_MS) as EpochMs };
  }

  /** Until when to wait if many held nodes will soon be free: one plan for all of them is better. */
  gathersUntil({ heldUntil, fleet }: BuiltFleet, now: EpochMs): EpochMs | undefined {
    const elapsed = this.#options.clock.elapsed();
    const soon = heldUntil.filter((until) => until <= now + MOMENT_MS);
    for (const { hold } of fleet.nodes) if (hold === 'nominated') soon.push((now + NOMINATED_AGAIN_MS) as EpochMs);
    const since = this.#gatheringSince ?? elapsed;
    const many = soon.length > 0 && soon.length >= MANY * usedShare(fleet) * fleet.nodes.length;
    const waits = many && elapsed - since < LONGEST_GATHERING_MS;
    // After a plan the wait may start anew: the load may only have begun to fall.
    this.#gatheringSince = waits ? since : undefined;
    return waits ? (Math.max(...soon) as EpochMs) : undefined;
  }

  /** Whether a plan would find nothing again. */
  isBarren(pools: readonly UsablePool[], now: EpochMs): boolean {
    const nothing = this.#nothing;
    if (nothing === undefined || nothing.stamp !== this.stamp || now >= nothing.until) return false;
    const sold = soldBy(pools);
    return nothing.sold.length === sold.length && nothing.sold.every((types, index) => types === sold[index]);
  }

  /** Records that a plan for the cluster at this stamp found nothing, which is valid until then at most. */
  foundNothing(stamp: number, pools: readonly UsablePool[], { budgets, now }: Look, until: number): void {
    const change = budgets.changesAt(['Empty', 'Underutilized']) ?? Number.POSITIVE_INFINITY;
    this.#nothing = { stamp, sold: soldBy(pools), until: change > now ? Math.min(until, change) : until };
  }

  /** Records that there was, or may be, something to do. */
  foundSomething(): void {
    this.#nothing = undefined;
  }

  /** Whether nodes of the latest wave are still being removed. */
  #isUnderWay({ nodes }: Look, wave: ReadonlySet<string>): boolean {
    if (this.#options.clock.elapsed() - this.#begunAt >= LONGEST_WAVE_MS) return false;
    return nodes.some((node) => isGoing(node) && wave.has(node.claim?.metadata.uid ?? ''));
  }

  /**
   * Whether provisioning has handled every pending and displaced pod and its new nodes are up, or the wait for that has been too long.
   * Displaced pods are waited for without a limit.
   */
  #isSettled(look: Look): boolean {
    const { rounds, state, clock } = this.#options;
    const uncovered = look.nodes.some(
      (node) =>
        isGoing(node) &&
        node.claim !== undefined &&
        !rounds.covers(node.claim.metadata.uid ?? '') &&
        state.podsOn(node.name).some(isReschedulable),
    );
    const since = look.now - ROUND_MS;
    const waiting =
      uncovered ||
      look.nodes.some((node) => isComing(node) && !isGoing(node)) ||
      state.provisionable().some((pod) => (pendingSince(pod) ?? 0) > since);
    if (!waiting) {
      this.#unsettledSince = undefined;
      return true;
    }
    this.#unsettledSince ??= clock.elapsed();
    return !uncovered && clock.elapsed() - this.#unsettledSince >= LONGEST_WAIT_MS;
  }
}

/** The share of all nodes' CPU or memory that pods request, whichever is larger. */
function usedShare({ nodes, pods, groups }: Fleet): number {
  const shares = ['cpu', 'memory'].map((resource) => {
    const used = pods.reduce((sum, { group }) => sum + (groups[group]?.requests[resource] ?? 0), 0);
    const there = nodes.reduce((sum, { allocatable }) => sum + (allocatable[resource] ?? 0), 0);
    return there > 0 ? used / there : 1;
  });
  return Math.min(1, Math.max(...shares));
}

function soldBy(pools: readonly UsablePool[]): Sold {
  return pools.map(({ instanceTypes }) => instanceTypes);
}

/** Since when a pod is pending. */
export function pendingSince({ status, metadata }: Pod): EpochMs | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return parseTimestamp(scheduled?.lastTransitionTime ?? metadata.creationTimestamp);
}
