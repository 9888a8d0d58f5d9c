/**
 * Creates, reads, lists and deletes instances of Compute Engine. Names are unique per zone only, so instances are found by a label in all
 * zones; and stock-outs arrive in the operation after an insert that was accepted, so every insert is waited for.
 */
import type { Labels } from '../../engine/problem.ts';
import type { ComputeApi, Operation } from './compute-api.ts';
import { ComputeRefusal } from './compute-api.ts';
import { computeFailureKind } from './compute-failure.ts';

/** An instance as the API shows it, as far as we read it. */
export interface Instance {
  readonly name: string;
  /** A URL, as is the type. */
  readonly zone: string;
  readonly machineType: string;
  readonly status: string;
  readonly creationTimestamp?: string;
  readonly labels?: Labels;
  readonly metadata?: { readonly items?: readonly { readonly key: string; readonly value: string }[] };
  readonly scheduling?: { readonly provisioningModel?: string; readonly preemptible?: boolean };
  readonly networkInterfaces?: readonly {
    readonly networkIP?: string;
    readonly accessConfigs?: readonly { readonly natIP?: string }[];
  }[];
}

export interface InstanceInsert {
  readonly zone: string;
  readonly name: string;
  /** The ID of a round, the same for the same launch: the API answers a repeated one with the same operation for an hour. */
  requestId(round: number): string;
  readonly body: object;
}

/** Inserts that end with trouble are asked for again this often. */
const LAST_ROUND = 2;

export class ComputeInstances {
  readonly #api: ComputeApi;

  constructor(api: ComputeApi) {
    this.#api = api;
  }

  async insert({ zone, name, requestId, body }: InstanceInsert, signal: AbortSignal): Promise<Instance> {
    try {
      for (let round = 0; ; round++) {
        const path = `zones/${zone}/instances?requestId=${requestId(round)}`;
        const operation = await this.#api.call<Operation>('POST', path, signal, body);
        const failure = await this.#api.outcome(zone, operation, signal);
        if (failure === undefined) break;
        // An operation that ended with trouble made nothing, and asking by the same ID would only show it again.
        if (computeFailureKind(failure) !== 'trouble' || round === LAST_ROUND) throw failure;
      }
    } catch (error) {
      // It is there already: a former process made it.
      if (!(error instanceof ComputeRefusal) || computeFailureKind(error) !== 'exists') throw error;
    }
    return this.read(zone, name, signal);
  }

  read(zone: string, name: string, signal: AbortSignal): Promise<Instance> {
    return this.#api.call<Instance>('GET', `zones/${zone}/instances/${name}`, signal);
  }

  /** The instances that carry a label, in all zones; all or an error. */
  labelled(key: string, value: string, signal: AbortSignal): Promise<readonly Instance[]> {
    return this.#api.aggregated<Instance>('instances', 'instances', `labels.${key}=${value}`, signal);
  }

  /** Has an instance deleted. Repeated deletions cost quota, so an instance that is stopping is not deleted again. */
  async remove(zone: string, name: string, signal: AbortSignal): Promise<void> {
    const { status } = await this.read(zone, name, signal);
    if (status !== 'STOPPING') await this.#api.call<Operation>('DELETE', `zones/${zone}/instances/${name}`, signal);
  }
}

/** A stopped instance still has disks that are paid for: it counts as stopped until it is deleted, and not as gone. */
export function instanceState(status: string): 'pending' | 'running' | 'stopping' | 'stopped' {
  if (status === 'RUNNING') return 'running';
  if (status === 'STOPPING' || status === 'SUSPENDING') return 'stopping';
  return status === 'TERMINATED' || status === 'SUSPENDED' ? 'stopped' : 'pending';
}

/** `us-central1-a` of a URL that ends so. */
export function lastPart(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

/** As on Nodes: `gce://project/zone/name`. */
export function gceProviderID(project: string, { zone, name }: Pick<Instance, 'zone' | 'name'>): string {
  return `gce://${project}/${lastPart(zone)}/${name}`;
}

/** Zone and name of a provider ID; undefined for that of another project or cloud. */
export function parseGceProviderID(
  providerID: string,
  project: string,
): { readonly zone: string; readonly name: string } | undefined {
  const match = /^gce:\/\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(providerID);
  return match === null || match[1] !== project ? undefined : { zone: match[2] ?? '', name: match[3] ?? '' };
}
