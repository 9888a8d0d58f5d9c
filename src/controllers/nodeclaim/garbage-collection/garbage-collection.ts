/** Deletes machines without a claim, and claims without a machine or whose node was removed. */
import { FINALIZER_TERMINATION } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { NODES } from '../../../apis/kubernetes/node.ts';
import { keyOf } from '../../../apis/kubernetes/object.ts';
import type { Machine } from '../../../cloud/machine.ts';
import type { ReconcileContext } from '../../../kube/controller.ts';
import { asError, hasCode } from '../../../platform/errors.ts';
import { BY_PROVIDER_ID } from '../../../state/cluster-informers.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import type { InformedController } from '../../informed-controller.ts';
import { periodicController } from '../../periodic-controller.ts';
import { deleteClaim } from '../delete-claim.ts';
import { garbageCollected, nodeGone } from '../events.ts';
import { isClaimThere } from '../is-claim-there.ts';
import { NodeClaimMetrics } from '../metrics.ts';
import { decideGarbage } from './decide-garbage.ts';

const PERIOD_MS = 2 * 60_000;
/** Younger machines are never deleted. */
const YOUNG_MS = 30_000;

export class GarbageCollection {
  readonly name = 'nodeclaim.garbagecollection';
  readonly #options: ControllersOptions;
  readonly #metrics: NodeClaimMetrics;
  readonly #controller: InformedController;
  /** UIDs of claims without a node in the previous round: a restarted kubelet creates its node again. */
  #nodeless: ReadonlySet<string> = new Set();

  constructor(options: ControllersOptions) {
    this.#options = options;
    this.#metrics = new NodeClaimMetrics(options.metrics);
    this.#controller = periodicController(options, this.name, PERIOD_MS, (context) => this.#collect(context));
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  async #collect(context: ReconcileContext): Promise<void> {
    const { clock, clouds, state } = this.#options;
    const { nodeClaims, nodes } = state.informers;
    // Machines are listed before claims: the claim of a machine is older than the machine.
    const listings = await clouds.list(context.signal);
    const listed = new Map(listings.flatMap((each) => ('machines' in each ? [[each.scope, each.machines]] : [])));
    for (const each of listings)
      if ('error' in each)
        context.logger.warn('machines cannot be listed', { scope: each.scope, error: asError(each.error) });
    const claims = nodeClaims.list().filter((claim) => clouds.isOurs(claim));
    const longest = Math.max(YOUNG_MS, ...claims.map((claim) => clouds.settleMs(claim)));
    const garbage = decideGarbage({
      machines: [...listed.values()].flat(),
      claims,
      isListed: (claim) => listed.has(clouds.scopeOf(claim) ?? ''),
      nodesOf: (providerID) => nodes.byIndex(BY_PROVIDER_ID, providerID),
      now: clock.now(),
      settleMs: (claim) => (claim === undefined ? longest : Math.max(YOUNG_MS, clouds.settleMs(claim))),
    });
    const scopes = new Map([...listed].flatMap(([scope, machines]) => machines.map((machine) => [machine, scope])));
    const nodeless = garbage.nodeless.filter(
      (claim) => this.#nodeless.has(claim.metadata.uid ?? '') && !garbage.claims.includes(claim),
    );
    this.#nodeless = new Set(garbage.nodeless.map(({ metadata }) => metadata.uid ?? ''));
    const work = [
      ...garbage.machines.map((machine) => this.#removeMachine(scopes.get(machine) ?? '', machine, context)),
      ...garbage.claims.map((claim) => this.#removeClaim(claim, context)),
      ...nodeless.map((claim) => this.#removeNodeless(claim, context)),
    ];
    // A failure does not hold up the others, and is tried again in the next round.
    for (const result of await Promise.allSettled(work)) {
      if (result.status === 'rejected')
        context.logger.error('garbage not collected', { error: asError(result.reason) });
    }
  }

  async #removeMachine(scope: string, machine: Machine, { signal, logger }: ReconcileContext): Promise<void> {
    const { client, clouds, state } = this.#options;
    const { claim, providerID } = machine;
    if (await isClaimThere(client, claim, signal)) return;
    logger.info('terminating a machine without a NodeClaim', { providerID, NodeClaim: { name: claim.name } });
    const nodes = state.informers.nodes.byIndex(BY_PROVIDER_ID, providerID);
    for (const node of nodes) await client.delete(NODES, keyOf(node), { signal }).catch(ignoreGone);
    // A node with our finalizer is drained first, and its termination ends the machine.
    if (nodes.some(({ metadata }) => metadata.finalizers?.includes(FINALIZER_TERMINATION))) return;
    await clouds.deleteMachine(scope, machine, signal);
  }

  async #removeClaim(claim: NodeClaim, { signal }: ReconcileContext): Promise<void> {
    const { client, clouds, recorder } = this.#options;
    try {
      await clouds.get(claim, signal);
      return;
    } catch (error) {
      if (!hasCode(error, 'CLOUD_INSTANCE_NOT_FOUND')) throw error;
    }
    await deleteClaim(client, claim, signal);
    recorder.record(garbageCollected(claim));
    this.#metrics.disrupted(claim, 'garbage_collected');
  }

  async #removeNodeless(claim: NodeClaim, { signal }: ReconcileContext): Promise<void> {
    const { client, recorder } = this.#options;
    await deleteClaim(client, claim, signal);
    recorder.record(nodeGone(claim));
    this.#metrics.disrupted(claim, 'garbage_collected');
  }
}

function ignoreGone(error: unknown): void {
  if (!hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_CONFLICT')) throw error;
}
