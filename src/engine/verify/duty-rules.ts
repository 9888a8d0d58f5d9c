/**
 * Checks what a plan must not leave undone. Only simple cases are judged, where one pod on a fresh node decides. A pod
 * with topology constraints, a pool with limits or minValues, and an offering with slots may have reasons that this check
 * does not see.
 */
import type { Alternatives, PodGroup, Pool, Problem } from '../problem.ts';
import { tolerates, untolerated } from './label-rules.ts';
import { portsClash } from './node-rules.ts';
import { mayMeet, meets, type PlannedNode } from './planned-node.ts';
import { possibleNode } from './possible-node.ts';
import type { Bought } from './purchase-rules.ts';
import type { Report } from './violation.ts';

/** Judges the simple cases of one problem. */
export class DutyRules {
  readonly #problem: Problem;
  readonly #someAvoid: boolean;
  readonly #answers = new Map<string, boolean>();

  constructor(problem: Problem) {
    this.#problem = problem;
    this.#someAvoid = [...problem.pods, ...(problem.boundPods ?? []), ...(problem.daemons ?? [])].some(
      (pod) => (pod.podAntiAffinity ?? []).length > 0,
    );
  }

  /** Reports a pod that was not placed although a fresh node could be launched for it alone. */
  checkUnplaced(pod: PodGroup, report: Report): void {
    if (!this.#isPlain(pod)) return;
    const pool = this.#problem.pools.find((candidate) => this.#couldBuyFor(candidate, pod, pod.requirements));
    if (pool !== undefined) report('unplaced-without-cause', pod.name, `pool ${pool.name} could buy a node for it`);
  }

  /**
   * Reports a node that none of its pods needed in this pool: for each, a pool of higher weight could have launched a
   * node. (A pod without that need may fill up a node that another one needed.)
   */
  checkWeight({ pool, node }: Bought, pods: Iterable<PodGroup>, report: Report): void {
    const heavier = this.#problem.pools.filter((other) => (other.weight ?? 0) > (pool.weight ?? 0));
    if (heavier.length === 0) return;
    const elsewhere = (pod: PodGroup) =>
      heavier.some((other) => !isShunned(other, pod) && this.#couldBuyFor(other, pod, pod.requirements));
    if ([...pods].every((pod) => this.#isPlain(pod) && !hasWishes(pod) && elsewhere(pod))) {
      report('pool-weight', node.name, `pools that weigh more than ${pool.name} could take all of its pods`);
    }
  }

  /** Reports a pod that got a later one of its ordered alternatives although a fresh node could be launched for an earlier one. */
  checkOrdered(node: PlannedNode, pod: PodGroup, report: Report): void {
    if (pod.ordered !== true || !this.#isPlain(pod)) return;
    for (const alternatives of inSteps(pod)) {
      if (meets(node, alternatives)) return;
      const pool = this.#problem.pools.find((candidate) => this.#couldBuyFor(candidate, pod, alternatives));
      if (pool !== undefined) {
        report('ordered-alternatives', node.name, `pool ${pool.name} could meet an earlier alternative of ${pod.name}`);
        return;
      }
    }
  }

  /** Reports a pod without a place although a pod of lower priority, with no smaller requests, is placed on a node where it could run. */
  checkPriority(
    unplaced: ReadonlySet<PodGroup>,
    placed: Iterable<readonly [PodGroup, PlannedNode]>,
    report: Report,
  ): void {
    if (unplaced.size === 0 || !this.#problem.pods.every((pod) => this.#isPlain(pod))) return;
    const waiting = [...unplaced].filter(
      (pod) => (pod.hostPorts ?? []).length === 0 && pod.volumeAttachments === undefined,
    );
    for (const [holder, node] of placed) {
      const robbed = waiting.find(
        (pod) => (pod.priority ?? 0) > (holder.priority ?? 0) && takesNoMore(pod, holder) && isAdmitted(node, pod),
      );
      if (robbed !== undefined) {
        report('priority', node.name, `${holder.name} has the place that ${robbed.name} of higher priority could have`);
        return;
      }
    }
  }

  /** Pods that no topology rule affects, neither their own nor another pod's. */
  #isPlain(pod: PodGroup): boolean {
    return (
      !this.#someAvoid &&
      (pod.podAffinity ?? []).length === 0 &&
      (pod.topologySpread ?? []).every((spread) => spread.whenUnsatisfiable === 'ScheduleAnyway')
    );
  }

  #couldBuyFor(pool: Pool, pod: PodGroup, alternatives: Alternatives = []): boolean {
    const { requests, tolerations, hostPorts, volumeRequirements, volumeAttachments } = pod;
    const question = JSON.stringify([
      pool.name,
      alternatives,
      requests,
      tolerations,
      hostPorts,
      volumeRequirements,
      volumeAttachments,
    ]);
    const known = this.#answers.get(question);
    if (known !== undefined) return known;
    const answer = couldBuyFor(this.#problem, pool, pod, alternatives);
    this.#answers.set(question, answer);
    return answer;
  }
}

/** Groups ordered alternatives by step. Written independently of the solver's version. */
function inSteps({ requirements = [], stepSizes = requirements.map(() => 1) }: PodGroup): Alternatives[] {
  const stepOf = stepSizes.flatMap((size, step) => Array.from({ length: size }, () => step));
  return stepSizes.map((_, step) => requirements.filter((_, index) => stepOf[index] === step));
}

function takesNoMore(pod: PodGroup, other: PodGroup): boolean {
  return Object.entries(pod.requests).every(([name, amount]) => amount <= (other.requests[name] ?? 0));
}

function isAdmitted(node: PlannedNode, pod: PodGroup): boolean {
  return (
    untolerated(node.taints, pod.tolerations).length === 0 &&
    meets(node, pod.requirements) &&
    meets(node, pod.volumeRequirements)
  );
}

/** Preferences may lead to a pool of lower weight. */
function hasWishes(pod: PodGroup): boolean {
  const wishes = [pod.preferredNodeAffinity, pod.preferredPodAffinity, pod.preferredPodAntiAffinity];
  return wishes.some((terms = []) => terms.length > 0) || (pod.topologySpread ?? []).length > 0;
}

/** So may a PreferNoSchedule taint. */
function isShunned(pool: Pool, pod: PodGroup): boolean {
  return (pool.taints ?? []).some(
    (taint) => taint.effect === 'PreferNoSchedule' && !(pod.tolerations ?? []).some((one) => tolerates(one, taint)),
  );
}

function couldBuyFor(problem: Problem, pool: Pool, pod: PodGroup, alternatives: Alternatives): boolean {
  if (pool.limits !== undefined || (pool.requirements ?? []).some(({ minValues }) => minValues !== undefined))
    return false;
  if (untolerated(pool.taints, pod.tolerations).length > 0) return false;
  return problem.instanceTypes.some((type) =>
    type.offerings.some((offering) => {
      if (offering.slots !== undefined) return false;
      const node = possibleNode(problem, pool, type, offering);
      return node !== undefined && canHold(node, pod) && jointly(node, alternatives, pod.volumeRequirements);
    }),
  );
}

function canHold(node: PlannedNode, pod: PodGroup): boolean {
  return (
    Object.entries({ pods: 1, ...pod.requests }).every(
      ([name, amount]) => amount === 0 || amount <= (node.room[name] ?? 0),
    ) &&
    Object.entries(node.attachmentRoom).every(([driver, room]) => (pod.volumeAttachments?.[driver] ?? 0) <= room) &&
    (pod.hostPorts ?? []).every((port) => !node.usedHostPorts.some((other) => portsClash(port, other)))
  );
}

/** Node affinity and volumes each have alternatives; one of each must be possible together. */
function jointly(node: PlannedNode, affinity: Alternatives = [], volumes: Alternatives = []): boolean {
  const or = (alternatives: Alternatives): Alternatives => (alternatives.length === 0 ? [[]] : alternatives);
  return or(affinity).some((one) => or(volumes).some((other) => mayMeet(node, [[...one, ...other]])));
}
