/**
 * Sets the number of replicas of services that ask for ready replicas: extra replicas on spot, and on-demand replicas while spot replicas
 * are not ready. `prepare-pod.ts` decides which pod gets which capacity.
 */
import { keyOf } from '../../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../apis/kubernetes/pod.ts';
import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts';
import { hasCode } from '../../platform/errors.ts';
import type { KeptService } from '../../state/availability/kept-services.ts';
import { readyAndStaying } from '../../state/availability/replica-demand.ts';
import { BY_PROVIDER_ID } from '../../state/cluster-informers.ts';
import { isReschedulable } from '../../state/cluster-state.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import { deleteClaim } from '../nodeclaim/delete-claim.ts';
import { ANNOTATION_DELETION_COST, decideReplicas, type ReplicaDecision, SETTLE_MS } from './decide-replicas.ts';
import { replicasChanged, ruleInvalid } from './events.ts';

/** By then the caches show our own writes. */
const HEARD_MS = 1000;
/** Many pods change at a time. */
const GATHER_MS = 100;

export class Availability {
  readonly name = 'service.availability';
  readonly #options: ControllersOptions;
  readonly #controller: InformedController;
  /** By service: since when fewer replicas are wanted than the object asks for. */
  readonly #lowerSince = new Map<string, number>();

  constructor(options: ControllersOptions) {
    this.#options = options;
    const { services } = options.state;
    this.#controller = new InformedController(options, {
      name: this.name,
      listen: (queue) => {
        for (const { key } of services.list()) queue.add(key);
        return [services.onChange((key) => queue.add(key, { afterMs: GATHER_MS }))];
      },
      reconcile: (key, context) => this.#reconcile(key, context),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  async #reconcile(key: string, { signal, logger }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { clock, recorder, state } = this.#options;
    const service = state.services.get(key);
    if (service === undefined) {
      this.#lowerSince.delete(key);
      return undefined;
    }
    const { object, rule, numbered } = service;
    if ('problem' in rule) {
      recorder.record(ruleInvalid(object, rule.problem));
      return undefined;
    }
    const replicas = state.services.replicas(service);
    const asked = object.spec?.replicas ?? 1;
    const since = this.#lowerSince.get(key) ?? clock.elapsed();
    const facts = { rule, asked, replicas, numbered, lowerForMs: clock.elapsed() - since };
    const decision = decideReplicas(facts);
    if (decision.wanted < asked) this.#lowerSince.set(key, since);
    else this.#lowerSince.delete(key);
    const acted = await this.#act(service, decision, signal);
    if (decision.ask !== undefined) {
      const { ready } = rule;
      const serving = readyAndStaying(replicas);
      const why = `${serving} of ${ready} replicas are ready on nodes that stay; ${decision.wanted} are wanted on spot and on demand`;
      logger.info('replicas changed', { service: key, from: asked, to: decision.ask, ready, serving });
      recorder.record(replicasChanged(object, asked, decision.ask, why));
    }
    if (acted) return { requeueAfterMs: HEARD_MS };
    return decision.wanted < asked ? { requeueAfterMs: Math.max(HEARD_MS, SETTLE_MS - facts.lowerForMs) } : undefined;
  }

  /** Whether anything was written that the caches do not show yet. */
  async #act(
    { key, kind, object }: KeptService,
    { costs, evict, ask }: ReplicaDecision,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { client } = this.#options;
    for (const [pod, cost] of costs) {
      const body = { metadata: { uid: pod.metadata.uid, annotations: { [ANNOTATION_DELETION_COST]: cost } } };
      await client.patch(PODS, keyOf(pod), { type: 'merge', body }, { signal });
    }
    if (ask !== undefined) {
      // Fails if another client has changed the number meanwhile; other changes of the object do not matter.
      const path = '/spec/replicas';
      const asked = object.spec?.replicas;
      const test = asked === undefined ? [] : [{ op: 'test', path, value: asked } as const];
      const operations = [...test, { op: 'add', path, value: ask } as const];
      await client.patch(kind, keyOf(object), { type: 'json', operations }, { signal });
    }
    if (evict !== undefined) await this.#giveUp(evict, key, signal);
    return costs.size > 0 || ask !== undefined || evict !== undefined;
  }

  /** Deletes the node too if no other pod runs on it: the scheduler would put the recreated pod on the same node again. */
  async #giveUp(pod: Pod, key: string, signal: AbortSignal): Promise<void> {
    const { client, clouds, state } = this.#options;
    const { nodeName = '' } = pod.spec;
    const node = state.informers.nodes.get(nodeName);
    const [claim] = state.informers.nodeClaims.byIndex(BY_PROVIDER_ID, node?.spec?.providerID ?? '');
    const alone = state
      .podsOn(nodeName)
      .filter(isReschedulable)
      .every((other) => state.services.of(other)?.key === key);
    if (node !== undefined && claim !== undefined && alone && clouds.isOurs(claim)) {
      await deleteClaim(client, claim, signal);
      return;
    }
    try {
      const { uid } = pod.metadata;
      await client.evict(keyOf(pod), { signal, ...(uid === undefined ? {} : { preconditions: { uid } }) });
    } catch (error) {
      // Its PodDisruptionBudget may allow it later.
      if (!hasCode(error, 'KUBE_DISRUPTION_BUDGET')) throw error;
    }
  }
}
