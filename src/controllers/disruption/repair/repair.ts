/**
 * Reboots or replaces nodes that are sick, within budgets. The new ones come first; only then have the pods to leave by the deadline
 * that the cloud's policy or the claim sets. Where many nodes of a pool are sick at once the fault is hardly theirs, and
 * none is replaced.
 */
import { isTrue } from '../../../apis/karpenter/conditions.ts';
import { ANNOTATION_DO_NOT_REPAIR } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { RepairPolicy } from '../../../cloud/repair-policy.ts';
import type { EpochMs } from '../../../platform/clock.ts';
import { isGoing, poolOf, type StateNode } from '../../../state/state-node.ts';
import { type Candidate, podsBlocker, withPods } from '../candidate.ts';
import type { Command } from '../commands/command.ts';
import { nodeRepairBlocked } from '../events.ts';
import type { Look } from '../look.ts';
import type { DisruptionMethod } from '../method.ts';
import type { DisruptionMetrics } from '../metrics.ts';
import { replaceAll } from '../replace-all.ts';
import type { ReplaceWithinOptions } from '../replace-within.ts';
import { withinBudgets } from '../within-budgets.ts';
import { isVetoed } from './recovery.ts';
import { isSick, type Sickness, sicknessOf } from './sickness.ts';

export interface RepairOptions extends ReplaceWithinOptions {
  /** By which a node is sick, as its cloud advises. */
  policiesOf(node: Node): readonly RepairPolicy[];
  readonly metrics: DisruptionMetrics;
  /** Reboots nodes where policies advise it. */
  readonly reboots: Reboots;
}

/** Who reboots nodes. */
export interface Reboots {
  /** Whether the machine of a claim can be rebooted, and has not been too often. */
  can(claim: NodeClaim, now: EpochMs): boolean;
  /** Has the node of a claim rebooted. */
  request(claim: NodeClaim, graceMs: number | undefined, signal: AbortSignal): Promise<void>;
}

interface Patient extends Candidate {
  readonly sickness: Sickness;
}

/** A pool with a larger share of sick nodes is left alone. */
const SICK_SHARE = 0.2;
/** Having waited so long counts as much as the next higher priority. */
const WAIT_PER_RANK_MS = 30 * 60_000;

export class Repair implements DisruptionMethod {
  readonly name = 'repair';
  readonly reason = 'Unhealthy';
  readonly places = true;
  readonly #options: RepairOptions;

  constructor(options: RepairOptions) {
    this.#options = options;
  }

  async plan(look: Look, signal: AbortSignal): Promise<readonly Command[]> {
    const { metrics, policiesOf } = this.#options;
    const sick = look.nodes.filter(({ node }) => node !== undefined && isSick(node, policiesOf(node)));
    const patients = sick.flatMap((state) => this.#patient(state, look) ?? []);
    metrics.eligible(this.reason, patients.length);
    const all = this.#withoutOutbreaks(patients, sick, look);
    const rebooted = await this.#reboot(inOrder(all, look.now), look, signal);
    const treated = all.filter((patient) => !rebooted.has(patient));
    const repairs = Object.fromEntries(
      treated.map(({ claim, sickness: { condition, graceMs } }) => [
        claim.metadata.name ?? '',
        { condition, ...(graceMs === undefined ? {} : { graceMs }) },
      ]),
    );
    const due = { candidates: inOrder(treated, look.now), reason: this.reason, closed: sick, repairs } as const;
    return replaceAll(due, look, this.#options, signal);
  }

  /** Has nodes rebooted where that is advised and can be done; gives those that are not replaced now, as budgets hold them back too. */
  async #reboot(patients: readonly Patient[], look: Look, signal: AbortSignal): Promise<ReadonlySet<Patient>> {
    const { reboots } = this.#options;
    const due = patients.filter(
      ({ claim, sickness }) => sickness.action === 'RebootNode' && reboots.can(claim, look.now),
    );
    for (const { claim } of withinBudgets(due, this.reason, look)) {
      const patient = due.find((one) => one.claim === claim);
      await reboots.request(claim, patient?.sickness.graceMs, signal);
    }
    return new Set(due);
  }

  /** The node if it is to be repaired now; where it would be but must not, that is said. */
  #patient(state: StateNode, look: Look): Patient | undefined {
    const { node, claim } = state;
    if (node === undefined || claim === undefined || isGoing(state)) return undefined;
    // One that never joined is given up by those who wait for it.
    if (!isTrue(claim, 'Registered') || isTrue(claim, 'Rebooting')) return undefined;
    const sickness = sicknessOf(node, this.#options.policiesOf(node), look.now);
    if (sickness === undefined) return undefined;
    const candidate = withPods(state, look);
    if (candidate === undefined) return undefined;
    const problem = 'why' in candidate ? candidate.why : this.#objection(candidate, sickness, look);
    if (problem === undefined && !('why' in candidate)) return { ...candidate, sickness };
    look.refuse({ refused: state, why: problem ?? '' });
    return undefined;
  }

  #objection({ node, claim, state }: Candidate, { graceMs }: Sickness, look: Look): string | undefined {
    if ([node, claim].some(isVetoed)) return `it is sick, but has the annotation ${ANNOTATION_DO_NOT_REPAIR}`;
    if (graceMs !== undefined || claim.spec.terminationGracePeriod !== undefined) return undefined;
    const blocker = podsBlocker(look.podsOn(state.name), look);
    return blocker && `it is sick, but nothing bounds how long its pods may stay, and ${blocker}`;
  }

  #withoutOutbreaks(patients: readonly Patient[], sick: readonly StateNode[], look: Look): Patient[] {
    const { recorder } = this.#options;
    const blocked = new Map<string, string>();
    for (const name of new Set(patients.map(({ pool }) => pool.metadata.name ?? ''))) {
      const ours = (state: StateNode): boolean => poolOf(state) === name && state.node !== undefined;
      const unhealthy = sick.filter(ours).length;
      const nodes = look.nodes.filter(ours).length;
      if (unhealthy > Math.ceil(nodes * SICK_SHARE))
        blocked.set(name, `${unhealthy} of ${nodes} nodes of pool ${name} are sick, more than 20%: none is replaced`);
    }
    return patients.filter(({ pool, node, claim }) => {
      const why = blocked.get(pool.metadata.name ?? '');
      if (why !== undefined) for (const object of [node, claim, pool]) recorder.record(nodeRepairBlocked(object, why));
      return why === undefined;
    });
  }
}

/** Higher priorities first, but who waits rises; among equals those with fewer pods. */
function inOrder(patients: readonly Patient[], now: number): Patient[] {
  const ranks = [...new Set(patients.map(({ sickness }) => sickness.priority))].sort((a, b) => a - b);
  const score = ({ sickness }: Patient): number =>
    ranks.indexOf(sickness.priority) + (now - sickness.since) / WAIT_PER_RANK_MS;
  return patients.toSorted(
    (a, b) => score(b) - score(a) || a.pods.length - b.pods.length || (a.state.name < b.state.name ? -1 : 1),
  );
}
