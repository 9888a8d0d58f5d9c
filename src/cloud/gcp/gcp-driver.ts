/**
 * A thin driver for Compute Engine: one instance for each claim, spot or on demand, in any zone of a region.
 *
 * Names are unique per zone only, so the claim's UID is a label by which an instance is looked for in all zones before anything is
 * launched; and stock-outs arrive in the operation after an insert that was accepted, so every insert is waited for.
 */

import type { GceNodeClass } from '../../apis/gcp/gce-node-class.ts';
import {
  LABEL_ARCH,
  LABEL_CAPACITY_TYPE,
  LABEL_INSTANCE_TYPE,
  LABEL_NODE_POOL,
  LABEL_OS,
  LABEL_REGION,
  LABEL_ZONE,
} from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { InstanceType, Labels } from '../../engine/problem.ts';
import type { RankedOffering } from '../../engine/solution.ts';
import { type Clock, type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { hasCode, SpindriftError } from '../../platform/errors.ts';
import type { Catalogue, Cloud, CloudLabels, Drift, LaunchAnswer, LaunchRequest } from '../cloud.ts';
import { launchOneByOne } from '../launch-one-by-one.ts';
import type { Machine, MachineRef } from '../machine.ts';
import { dollars, type MachineShape } from '../machine-shape.ts';
import type { NodeClass } from '../node-class-kind.ts';
import type { ComputeApi, Operation } from './compute-api.ts';
import { ComputeRefusal } from './compute-api.ts';
import { computeFailure, computeFailureKind } from './compute-failure.ts';
import { instanceBody, labelValue, requestId } from './instance-body.ts';
import { gcpMachineTypes, gcpRegionFactor } from './machine-types.ts';
import { NODE_CLASS_KIND } from './node-class-kind.ts';

export interface GcpDriverOptions {
  readonly clock: Clock;
  readonly api: ComputeApi;
  readonly project: string;
  readonly region: string;
  /** The cluster whose instances these are. */
  readonly cluster: string;
  readonly controllers?: Cloud['controllers'];
  readonly callTimeoutMs?: number;
}

/** An instance as the API shows it, as far as we read it. */
interface Instance {
  readonly name: string;
  readonly zone: string;
  readonly machineType: string;
  readonly status: string;
  readonly creationTimestamp?: string;
  readonly labels?: Labels;
  readonly metadata?: { readonly items?: readonly { readonly key: string; readonly value: string }[] };
  readonly scheduling?: { readonly provisioningModel?: string; readonly preemptible?: boolean };
}

interface SoldType {
  readonly name: string;
  readonly zone: string;
}

const LABEL_CLUSTER = 'spindrift-cluster';
const LABEL_CLAIM = 'spindrift-nodeclaim-uid';
const CATALOGUE_AGE_MS = 3_600_000;
const MIB = 1024 * 1024;

export const CLOUD_LABELS: CloudLabels = {
  wellKnown: [
    'karpenter.k8s.gcp/instance-family',
    'karpenter.k8s.gcp/instance-gpu-name',
    'karpenter.k8s.gcp/instance-gpu-count',
  ],
  restrictedDomains: ['karpenter.k8s.gcp'],
};

export class GcpDriver implements Cloud {
  readonly name = 'gcp';
  readonly nodeClass = NODE_CLASS_KIND as unknown as Cloud['nodeClass'];
  readonly labels = CLOUD_LABELS;
  readonly settleMs = 10_000;
  readonly repairPolicies = [];
  readonly noticeSources = [];
  readonly controllers: Cloud['controllers'];
  readonly #options: GcpDriverOptions;
  readonly #shapes: ReadonlyMap<string, MachineShape>;
  #known:
    | { readonly instanceTypes: readonly InstanceType[]; readonly text: string; readonly askedAt: number }
    | undefined;

  constructor(options: GcpDriverOptions) {
    this.#options = options;
    this.controllers = options.controllers ?? [];
    this.#shapes = new Map(gcpMachineTypes().map((shape) => [shape.name, shape]));
  }

  scopes(): readonly string[] {
    return [this.#options.region];
  }

  scopeOf(): string {
    return this.#options.region;
  }

  async catalogue(_nodeClass: NodeClass, signal: AbortSignal): Promise<Catalogue> {
    const { clock, api, region } = this.#options;
    const known = this.#known;
    const countedAt = clock.elapsed();
    if (known !== undefined && countedAt - known.askedAt < CATALOGUE_AGE_MS)
      return { instanceTypes: known.instanceTypes, reservations: [], countedAt };
    const sold = await this.#ask('listing machine types', '', signal, (limit) =>
      api.aggregated<SoldType>('machineTypes', 'machineTypes', undefined, limit),
    ).catch((error) => {
      if (known === undefined || signal.aborted) throw error;
      return undefined;
    });
    if (sold === undefined) return { instanceTypes: known?.instanceTypes ?? [], reservations: [], countedAt };
    const zones = new Map<string, string[]>();
    for (const { name, zone } of sold) {
      const place = lastPart(zone);
      if (place.startsWith(`${region}-`)) zones.set(name, [...(zones.get(name) ?? []), place]);
    }
    const instanceTypes = [...this.#shapes.values()].flatMap((shape) =>
      instanceTypeOf(shape, zones.get(shape.name) ?? [], region),
    );
    const text = JSON.stringify(instanceTypes);
    this.#known = {
      instanceTypes: known?.text === text ? known.instanceTypes : instanceTypes,
      text,
      askedAt: countedAt,
    };
    return { instanceTypes: this.#known.instanceTypes, reservations: [], countedAt };
  }

  async launch(request: LaunchRequest, signal: AbortSignal): Promise<LaunchAnswer> {
    const { claim, nodeClass, attempt } = request;
    const { uid = '', name = '' } = claim.metadata;
    const present = await this.#find(uid, signal);
    if (present !== undefined) return { kind: 'launched', machine: this.#machine(present) };
    return launchOneByOne(request, (offering) =>
      this.#ask(`launch of ${name}`, name, signal, (limit) =>
        this.#insert(claim, nodeClass as unknown as GceNodeClass, offering, attempt, limit),
      ),
    );
  }

  async find(claim: NodeClaim, signal: AbortSignal): Promise<Machine | undefined> {
    const found = await this.#find(claim.metadata.uid ?? '', signal);
    return found === undefined ? undefined : this.#machine(found);
  }

  async get(providerID: string, signal: AbortSignal): Promise<Machine> {
    const { zone, name } = this.#place(providerID);
    return this.#ask(providerID, '', signal, async (limit) =>
      this.#machine(await this.#options.api.call<Instance>('GET', `zones/${zone}/instances/${name}`, limit)),
    );
  }

  async list(_scope: string, signal: AbortSignal): Promise<readonly Machine[]> {
    const filter = `labels.${LABEL_CLUSTER}=${labelValue(this.#options.cluster)}`;
    const found = await this.#ask('listing instances', '', signal, (limit) =>
      this.#options.api.aggregated<Instance>('instances', 'instances', filter, limit),
    );
    return found.map((instance) => this.#machine(instance));
  }

  async delete({ claimUID, providerID }: MachineRef, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    const found = providerID === undefined ? await this.#find(claimUID, signal) : undefined;
    if (providerID === undefined && found === undefined) return 'gone';
    const { zone, name } =
      providerID === undefined
        ? { zone: lastPart(found?.zone ?? ''), name: found?.name ?? '' }
        : this.#place(providerID);
    try {
      return await this.#ask(`deleting ${name}`, '', signal, async (limit) => {
        const { api } = this.#options;
        // Deletions that are repeated cost quota.
        const { status } = await api.call<Instance>('GET', `zones/${zone}/instances/${name}`, limit);
        if (status !== 'STOPPING') await api.call<Operation>('DELETE', `zones/${zone}/instances/${name}`, limit);
        return 'terminating' as const;
      });
    } catch (error) {
      if (hasCode(error, 'CLOUD_INSTANCE_NOT_FOUND')) return 'gone';
      throw error;
    }
  }

  async drift(): Promise<Drift | undefined> {
    return undefined;
  }

  machineKey(providerID: string): string | undefined {
    return providerID.startsWith('gce://') ? providerID.slice('gce://'.length) : undefined;
  }

  async #insert(
    claim: NodeClaim,
    { spec, metadata }: GceNodeClass,
    offering: RankedOffering,
    attempt: number,
    signal: AbortSignal,
  ): Promise<Machine> {
    const { api, project, cluster } = this.#options;
    const { uid = '', name: claimName = '' } = claim.metadata;
    const pool = claim.metadata.labels?.[LABEL_NODE_POOL] ?? '';
    const { zone, instanceType, capacityType } = offering;
    const name = `spindrift-${uid}`.slice(0, 63);
    const labels = {
      ...spec.labels,
      [LABEL_CLUSTER]: labelValue(cluster),
      [LABEL_CLAIM]: labelValue(uid),
      'karpenter-sh-nodepool': labelValue(pool),
    };
    const exact = {
      'spindrift-claim': claimName,
      'spindrift-claim-uid': uid,
      'spindrift-nodepool': pool,
      'spindrift-nodeclass': metadata.name ?? '',
    };
    const body = instanceBody({ name, project, spec, offering, labels, metadata: exact });
    const id = requestId(uid, zone, instanceType, capacityType, `${attempt}`);
    try {
      const operation = await api.call<Operation>('POST', `zones/${zone}/instances?requestId=${id}`, signal, body);
      await api.ended(zone, operation, signal);
    } catch (error) {
      // It is there already: a former process made it.
      if (!(error instanceof ComputeRefusal) || computeFailureKind(error) !== 'exists') throw error;
    }
    return this.#machine(await api.call<Instance>('GET', `zones/${zone}/instances/${name}`, signal));
  }

  /** The instance of a claim in any zone. */
  async #find(claimUID: string, signal: AbortSignal): Promise<Instance | undefined> {
    const filter = `labels.${LABEL_CLAIM}=${labelValue(claimUID)}`;
    const [found] = await this.#ask(`looking for ${claimUID}`, '', signal, (limit) =>
      this.#options.api.aggregated<Instance>('instances', 'instances', filter, limit),
    );
    return found;
  }

  #place(providerID: string): { readonly zone: string; readonly name: string } {
    const match = /^gce:\/\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(providerID);
    if (match === null || match[1] !== this.#options.project)
      throw new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: providerID });
    return { zone: match[2] ?? '', name: match[3] ?? '' };
  }

  #machine(instance: Instance): Machine {
    const { project, region } = this.#options;
    const zone = lastPart(instance.zone);
    const instanceType = lastPart(instance.machineType);
    const shape = this.#shapes.get(instanceType);
    const {
      capacity = {},
      overhead = {},
      labels = {},
    } = shape === undefined ? {} : (instanceTypeOf(shape, [zone], region)[0] ?? {});
    const isSpot = instance.scheduling?.provisioningModel === 'SPOT' || instance.scheduling?.preemptible === true;
    const capacityType = isSpot ? 'spot' : 'on-demand';
    const said = Object.fromEntries((instance.metadata?.items ?? []).map(({ key, value }) => [key, value]));
    return {
      providerID: `gce://${project}/${zone}/${instance.name}`,
      state: stateOf(instance.status),
      ...{ instanceType, zone, capacityType, capacity },
      labels: {
        ...labels,
        [LABEL_INSTANCE_TYPE]: instanceType,
        [LABEL_ZONE]: zone,
        [LABEL_REGION]: region,
        [LABEL_CAPACITY_TYPE]: capacityType,
      },
      allocatable: Object.fromEntries(
        Object.entries(capacity).map(([name, amount]) => [name, amount - (overhead[name] ?? 0)]),
      ),
      launchedAt: parseTimestamp(instance.creationTimestamp) ?? (0 as EpochMs),
      claim: { name: said['spindrift-claim'] ?? '', uid: said['spindrift-claim-uid'] ?? '' },
      pool: said['spindrift-nodepool'] ?? '',
      nodeClass: said['spindrift-nodeclass'] ?? '',
    };
  }

  /** Calls with a time limit, and says refusals in the words of controllers. */
  async #ask<Answer>(
    operation: string,
    claim: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const { clock, callTimeoutMs = 60_000 } = this.#options;
    signal.throwIfAborted();
    const limit = clock.deadline(callTimeoutMs, signal);
    try {
      return await work(limit.signal);
    } catch (error) {
      throw computeFailure(operation, claim, error);
    } finally {
      limit.cancel();
    }
  }
}

/** A machine type as the engine knows it; none where no zone of the region sells it. */
function instanceTypeOf(shape: MachineShape, zones: readonly string[], region: string): readonly InstanceType[] {
  if (zones.length === 0) return [];
  const factor = gcpRegionFactor(region);
  const { accelerator } = shape;
  return [
    {
      name: shape.name,
      labels: {
        [LABEL_ARCH]: shape.arch,
        [LABEL_OS]: 'linux',
        [LABEL_REGION]: region,
        'karpenter.k8s.gcp/instance-family': shape.family,
        ...(accelerator && {
          'karpenter.k8s.gcp/instance-gpu-name': accelerator.model,
          'karpenter.k8s.gcp/instance-gpu-count': `${accelerator.count}`,
        }),
      },
      capacity: {
        cpu: shape.vcpus * 1000,
        memory: Math.floor(shape.memoryMib * 0.98) * MIB,
        pods: 110,
        ...(accelerator && { [accelerator.resource]: accelerator.count }),
      },
      overhead: { cpu: Math.min(shape.vcpus * 60, 60 + 10 * shape.vcpus), memory: reservedMib(shape.memoryMib) * MIB },
      offerings: [...zones].sort().flatMap((zone) => [
        { zone, capacityType: 'on-demand' as const, price: dollars(shape.onDemand * factor) },
        { zone, capacityType: 'spot' as const, price: dollars(shape.spot * factor) },
      ]),
    },
  ];
}

/** A quarter of the first 4 GiB, a fifth of the next 4, and so on: what GKE keeps of memory, and 100 MiB for eviction. */
function reservedMib(memoryMib: number): number {
  const steps = [
    [4096, 0.25],
    [4096, 0.2],
    [8192, 0.1],
    [114_688, 0.06],
    [Number.POSITIVE_INFINITY, 0.02],
  ] as const;
  let left = memoryMib;
  let reserved = 100;
  for (const [size, share] of steps) {
    reserved += Math.min(left, size) * share;
    left = Math.max(0, left - size);
  }
  return Math.ceil(reserved);
}

/** A stopped instance still has disks that are paid for: it is deleted, and not taken for gone. */
function stateOf(status: string): Machine['state'] {
  if (status === 'RUNNING') return 'running';
  if (status === 'STOPPING' || status === 'SUSPENDING') return 'stopping';
  return status === 'TERMINATED' || status === 'SUSPENDED' ? 'stopped' : 'pending';
}

function lastPart(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}
