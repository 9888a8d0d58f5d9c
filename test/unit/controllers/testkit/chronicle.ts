/** Records what our controllers request from the API server about claims and pods, and checks PodDisruptionBudgets. */
import { compileLabelSelector } from '../../../../src/apis/kubernetes/label-selector.ts';
import type { KubeObject, ObjectKey, Resource } from '../../../../src/apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../../../src/apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../../../src/apis/kubernetes/pod-disruption-budget.ts';
import type { Status } from '../../../../src/apis/kubernetes/status.ts';
import type { DeleteOptions, EvictOptions, KubeClient, WriteOptions } from '../../../../src/kube/client.ts';
import type { Clock } from '../../../../src/platform/clock.ts';

/** A request that was granted. */
export interface Entry {
  readonly at: number;
  readonly what: 'claim' | 'claim deleted' | 'evicted' | 'pod deleted';
  readonly name: string;
  readonly node?: string | undefined;
  /** The requested grace period; undefined for the pod's own. */
  readonly grace?: number | undefined;
}

export class Chronicle {
  readonly entries: Entry[] = [];
  /** Budgets that an eviction violated, as sentences. */
  readonly broken: string[] = [];

  /** Wraps a client to record its requests. */
  through = (client: KubeClient, clock: Clock): KubeClient => {
    const note = (entry: Omit<Entry, 'at'>): void => void this.entries.push({ at: clock.now(), ...entry });
    const check = async (name: string): Promise<void> => void this.broken.push(...(await brokenBudgets(client, name)));
    return new Proxy(client, {
      get(target, property): unknown {
        if (property === 'create')
          return async <T extends KubeObject>(kind: Resource<T>, object: T, options?: WriteOptions): Promise<T> => {
            const created = await target.create(kind, object, options);
            if (kind.plural === 'nodeclaims') note({ what: 'claim', name: created.metadata.name ?? '' });
            return created;
          };
        if (property === 'delete')
          return async <T extends KubeObject>(
            kind: Resource<T>,
            key: ObjectKey,
            options?: DeleteOptions,
          ): Promise<T | Status> => {
            if (kind.plural === 'nodeclaims') note({ what: 'claim deleted', name: key.name });
            if (kind.plural === 'pods') note({ what: 'pod deleted', name: key.name });
            return target.delete(kind, key, options);
          };
        if (property === 'evict')
          return async (key: ObjectKey, options?: EvictOptions): Promise<void> => {
            const { spec, metadata } = await target.get(PODS, key);
            await target.evict(key, options);
            if (metadata.deletionTimestamp === undefined) await check(key.name);
            note({ what: 'evicted', name: key.name, node: spec.nodeName, grace: options?.gracePeriodSeconds });
          };
        const value = Reflect.get(target, property) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  };

  of(what: Entry['what']): Entry[] {
    return this.entries.filter((entry) => entry.what === what);
  }

  /** Clears the records. */
  clear(): void {
    this.entries.length = 0;
  }
}

/** Budgets with fewer healthy pods than desired, now that this pod is terminating. */
async function brokenBudgets(client: KubeClient, evicted: string): Promise<string[]> {
  const pods = (await client.list(PODS)).items;
  const gone = pods.find(({ metadata }) => metadata.name === evicted);
  const broken: string[] = [];
  for (const { metadata, spec, status } of (await client.list(POD_DISRUPTION_BUDGETS)).items) {
    const selector = compileLabelSelector(spec.selector);
    if (!selector.matches(gone?.metadata.labels)) continue;
    const healthy = pods.filter((pod) => selector.matches(pod.metadata.labels) && isHealthy(pod)).length;
    const wanted = status?.desiredHealthy ?? 0;
    if (healthy < wanted) broken.push(`${metadata.name} wants ${wanted} and has ${healthy} without ${evicted}`);
  }
  return broken;
}

/** Ready, and not terminating. */
export function isHealthy({ metadata, status }: Pod): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True')
  );
}
