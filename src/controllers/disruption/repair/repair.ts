/**
 * Reboots or replaces sick nodes, within budgets. A replacement is up before the pods of the old node must leave, by the deadline that
 * the cloud's repair policy or the claim sets. Where more than a fifth of a pool is sick at once, the cause is probably not the nodes
 * themselves, and none is repaired.
 */
import { isTrue } from '../../../apis/karpenter/conditions.ts';
import { ANNOTATION_DO_NOT_REPAIR } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { RepairPolicy } from '../../../cloud/repair-policy.ts';
import type { EpochMs } from '../../../platform/clock.ts';
import { asError } from '../../../platform/errors.ts';
import { isGoing, poolOf, type StateNode } from '../../../state/state-node.ts';
import { type Candidate, podsBlocker, withPods } from '../candidate.ts';
import type { Command } from '../commands/command.ts';
import { nodeRepairBlocked } from '../events.ts';
import type { Look } from '../look.ts';
import type { DisruptionMethod } from '../method.ts';
import type { DisruptionMetrics } from '../metrics.ts';
import { replaceAll } from '../replace-all.ts';
import type { ReplaceWithinOptions } from '../replace-within.ts';
import { candidatesOf, unitsOf } from '../unit.ts';
import { recordLargeGroups, withinBudgets } from '../within-budgets.ts';
import { isVetoed } from './recovery.ts';
import { isSick, type Sickness, sicknessOf } from './sickness.ts';

export interface RepairOptions extends ReplaceWithinOptions {
  /** The repair policies of the node's cloud. */
  policiesOf(node: Node): readonly RepairPolicy[];
  readonly metrics: DisruptionMetrics;
  /** Reboots nodes where policies advise it. */
  readonly reboots: Reboots;
}

export interface Reboots {
  /** Whether the cloud can reboot the claim's machine, and it has not been rebooted too often. */
  can(claim: NodeClaim, now: EpochMs): boolean;
  /** Requests a reboot of the claim's node. */
  request(claim: NodeClaim, graceMs: number | undefined, signal: AbortSignal): Promise<void>;
}

interface Patient extends Candidate {
  readonly sickness: Sickness;
}

/** No node is repaired in a pool with a larger share of sick nodes. */
const SICK_SHARE = 0.2;
/** A node that has waited this long ranks with the next higher priority. */
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

  /**
   * Requests reboots where the policies advise them and the cloud can do them. Returns every node that is due for a reboot, also those
   * that the budgets hold back: none of these is replaced.
   */
  async #reboot(patients: readonly Patient[], look: Look, signal: AbortSignal): Promise<ReadonlySet<Patient>> {
    const { reboots, recorder } = this.#options;
    const due = new Map(
      patients
        .filter(({ claim, sickness }) => sickness.action === 'RebootNode' && reboots.can(claim, look.now))
        .map((patient) => [patient.state.name, patient]),
    );
    const judge = ({ name }: StateNode): Patient | undefined => due.get(name);
    const units = unitsOf([...due.values()], { look, reason: this.reason, judge, takes: () => true });
    const chosen = withinBudgets(units, this.reason, look);
    recordLargeGroups(chosen, this.reason, look, recorder);
    for (const { state, claim } of candidatesOf(chosen)) {
      try {
        await reboots.request(claim, due.get(state.name)?.sickness.graceMs, signal);
      } catch (error) {
        signal.throwIfAborted();
        // One claim that cannot be written must not stop all other disruptions.
        const { message } = asError(error);
        look.refuse({ refused: state, why: `it is unhealthy, but its reboot cannot be requested: ${message}` });
      }
    }
    return new Set(due.values());
  }

  /** The node, if it is due for repair now. A node that is due but must not be repaired gets an event that says why. */
  #patient(state: StateNode, look: Look): Patient | undefined {
    const { node, claim } = state;
    if (node === undefined || claim === undefined || isGoing(state)) return undefined;
    // The claim lifecycle gives up a node that never joined.
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
    if ([node, claim].some(isVetoed)) return `it is unhealthy, but has the annotation ${ANNOTATION_DO_NOT_REPAIR}`;
    if (graceMs !== undefined || claim.spec.terminationGracePeriod !== undefined) return undefined;
    const blocker = podsBlocker(look.podsOn(state.name), look);
    return blocker && `it is unhealthy, but no terminationGracePeriod bounds its drain, and ${blocker}`;
  }

  #withoutOutbreaks(patients: readonly Patient[], sick: readonly StateNode[], look: Look): Patient[] {
    const { recorder } = this.#options;
    const blocked = new Map<string, string>();
    for (const name of new Set(patients.map(({ pool }) => pool.metadata.name ?? ''))) {
      const ours = (state: StateNode): boolean => poolOf(state) === name && state.node !== undefined;
      const unhealthy = sick.filter(ours).length;
      const nodes = look.nodes.filter(ours).length;
      if (unhealthy > Math.ceil(nodes * SICK_SHARE))
        blocked.set(
          name,
          `${unhealthy} of ${nodes} nodes of NodePool ${name} are unhealthy, more than 20%: none of them is repaired`,
        );
    }
    return patients.filter(({ pool, node, claim }) => {
      const why = blocked.get(pool.metadata.name ?? '');
      if (why !== undefined) for (const object of [node, claim, pool]) recorder.record(nodeRepairBlocked(object, why));
      return why === undefined;
    });
  }
}

/** Sorts by priority. A node's priority rises while it waits; ties go to the node with fewer pods. */
function inOrder(patients: readonly Patient[], now: number): Patient[] {
  const ranks = [...new Set(patients.map(({ sickness }) => sickness.priority))].sort((a, b) => a - b);
  const score = ({ sickness }: Patient): number =>
    ranks.indexOf(sickness.priority) + (now - sickness.since) / WAIT_PER_RANK_MS;
  return patients.toSorted(
    (a, b) => score(b) - score(a) || a.pods.length - b.pods.length || (a.state.name < b.state.name ? -1 : 1),
  );
}
