/**
 * When there is ground to plan on: every pod that lost or will lose its place has been given another by a round of provisioning, so that
 * the nodes it is promised to are known; pods that have just become pending have had their round; and what was begun before is done.
 * Where nothing has changed since a plan that found nothing, there is no need to look again until time itself changes something.
 */
import type { Pod } from '../../../apis/kubernetes/pod.ts';
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

/** A round of provisioning gathers pods and finds places for them within this time. */
export const ROUND_MS = 12_000;
/** Where pods come all the time, consolidation goes on all the same. */
const LONGEST_WAIT_MS = 60_000;
const LOOK_AGAIN_MS = 1000;
/** So long the moves that were begun together are waited for before there are others. */
const LONGEST_WAVE_MS = 300_000;
/**
 * Nodes that may be looked at so soon are waited for if they are more than a few, but not for ever: what a plan has to leave alone
 * it cannot plan anew, and a tenth of the nodes is enough to make exchanges the better way.
 */
const MOMENT_MS = 10_000;
const MANY = 0.02;
/** Nobody says when the pods have come that a node is kept for. */
const NOMINATED_AGAIN_MS = 2000;
const LONGEST_GATHERING_MS = 30_000;

/** What the clouds sold when a plan was made; the lists are never changed but replaced. */
type Sold = readonly (readonly unknown[])[];

/** The state of things when a plan found nothing to do. */
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

  /** Grows with each change of the cluster that a plan would look at. */
  get stamp(): number {
    return this.#options.stamp.value;
  }

  /** Moves have begun; `wave` below are their claims. */
  begun(): void {
    this.#begunAt = this.#options.clock.elapsed();
  }

  /** What there is to wait for, and until when where nobody says that it is over; undefined where there is nothing. */
  waits(look: Look, wave: ReadonlySet<string>): { readonly until: EpochMs | undefined } | undefined {
    // The claims that go say when they are gone.
    if (this.#isUnderWay(look, wave)) return { until: undefined };
    return this.#isSettled(look) ? undefined : { until: (look.now + LOOK_AGAIN_MS) as EpochMs };
  }

  /** Until when to wait, if many nodes may be looked at in a moment: what is planned for all at once is better. */
  gathersUntil({ heldUntil, fleet }: BuiltFleet, now: EpochMs): EpochMs | undefined {
    const elapsed = this.#options.clock.elapsed();
    const soon = heldUntil.filter((until) => until <= now + MOMENT_MS);
    for (const { hold } of fleet.nodes) if (hold === 'nominated') soon.push((now + NOMINATED_AGAIN_MS) as EpochMs);
    const since = this.#gatheringSince ?? elapsed;
    const many = soon.length > 0 && soon.length >= MANY * fleet.nodes.length;
    const waits = many && elapsed - since < LONGEST_GATHERING_MS;
    // Who has waited and planned may wait again: the next plan may be for a load that has only begun to fall.
    this.#gatheringSince = waits ? since : undefined;
    return waits ? (Math.max(...soon) as EpochMs) : undefined;
  }

  /** Whether a plan would again find nothing. */
  isBarren(pools: readonly UsablePool[], now: EpochMs): boolean {
    const nothing = this.#nothing;
    if (nothing === undefined || nothing.stamp !== this.stamp || now >= nothing.until) return false;
    const sold = soldBy(pools);
    return nothing.sold.length === sold.length && nothing.sold.every((types, index) => types === sold[index]);
  }

  /** A plan for the cluster as it was at a stamp found nothing, which holds until that time at most. */
  foundNothing(stamp: number, pools: readonly UsablePool[], { budgets, now }: Look, until: number): void {
    const change = budgets.changesAt(['Empty', 'Underutilized']) ?? Number.POSITIVE_INFINITY;
    this.#nothing = { stamp, sold: soldBy(pools), until: change > now ? Math.min(until, change) : until };
  }

  /** There was something to do, or there may be. */
  foundSomething(): void {
    this.#nothing = undefined;
  }

  /** Nodes of the latest wave are still going. */
  #isUnderWay({ nodes }: Look, wave: ReadonlySet<string>): boolean {
    if (this.#options.clock.elapsed() - this.#begunAt >= LONGEST_WAVE_MS) return false;
    return nodes.some((node) => isGoing(node) && wave.has(node.claim?.metadata.uid ?? ''));
  }

  /**
   * Every pod that has no place, or will have none, is known to provisioning, and the nodes that were made for pods are up; or that has
   * been so for too long to wait.
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

function soldBy(pools: readonly UsablePool[]): Sold {
  return pools.map(({ instanceTypes }) => instanceTypes);
}

/** Since when the scheduler has had no place for a pod. */
export function pendingSince({ status, metadata }: Pod): EpochMs | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return parseTimestamp(scheduled?.lastTransitionTime ?? metadata.creationTimestamp);
}
