/**
 * A thin driver for Compute Engine: one instance for each claim, spot or on demand, in any zone of a region. The claim's UID is a label
 * by which an instance is looked for in all zones before anything is launched.
 */
import type { GceNodeClass } from '../../apis/gcp/gce-node-class.ts';
import { LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { InstanceType } from '../../engine/problem.ts';
import type { RankedOffering } from '../../engine/solution.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { hasCode, SpindriftError } from '../../platform/errors.ts';
import type { Catalogue, Cloud, CloudLabels, LaunchAnswer, LaunchRequest } from '../cloud.ts';
import { launchOneByOne } from '../launch-one-by-one.ts';
import type { Machine, MachineRef } from '../machine.ts';
import type { MachineShape } from '../machine-shape.ts';
import type { NodeClass } from '../node-class-kind.ts';
import { machineOfType } from '../thin/sold-shape.ts';
import { ThinDriver, type ThinDriverOptions } from '../thin/thin-driver.ts';
import type { ComputeApi, ComputeRefusal } from './compute-api.ts';
import { computeFailure, refusedByCompute } from './compute-failure.ts';
import {
  ComputeInstances,
  gceProviderID,
  type Instance,
  instanceState,
  lastPart,
  parseGceProviderID,
} from './compute-instances.ts';
import { bootDisk, instanceBody, labelValue, requestId } from './instance-body.ts';
import { gcpInstanceTypes, isBootable } from './instance-types.ts';
import { gcpMachineTypes } from './machine-types.ts';
import { NODE_CLASS_KIND } from './node-class-kind.ts';

export interface GcpDriverOptions extends ThinDriverOptions {
  readonly api: ComputeApi;
  readonly project: string;
  readonly region: string;
}

interface SoldType {
  readonly name: string;
  readonly zone: string;
}

const LABEL_CLUSTER = 'spindrift-cluster';
const LABEL_CLAIM = 'spindrift-nodeclaim-uid';

export const CLOUD_LABELS: CloudLabels = {
  wellKnown: [
    'karpenter.k8s.gcp/instance-family',
    'karpenter.k8s.gcp/instance-gpu-name',
    'karpenter.k8s.gcp/instance-gpu-count',
  ],
  restrictedDomains: ['karpenter.k8s.gcp'],
};

export class GcpDriver extends ThinDriver {
  override readonly name = 'gcp';
  override readonly nodeClass = NODE_CLASS_KIND as unknown as Cloud['nodeClass'];
  override readonly labels = CLOUD_LABELS;
  readonly #options: GcpDriverOptions;
  readonly #instances: ComputeInstances;
  readonly #shapes: ReadonlyMap<string, MachineShape>;
  /** What is sold with a boot disk of a kind: the same array while the same is sold. */
  readonly #bootable = new Map<string, Readonly<Record<'sold' | 'instanceTypes', readonly InstanceType[]>>>();

  constructor(options: GcpDriverOptions) {
    super(options, options.region);
    this.#options = options;
    this.#instances = new ComputeInstances(options.api);
    this.#shapes = new Map(gcpMachineTypes().map((shape) => [shape.name, shape]));
  }

  override async launch(request: LaunchRequest, signal: AbortSignal): Promise<LaunchAnswer> {
    const { claim, nodeClass, attempt } = request;
    const { uid = '', name = '' } = claim.metadata;
    const present = await this.#find(uid, signal);
    if (present !== undefined) return { kind: 'launched', machine: this.#machine(present) };
    return launchOneByOne(
      request,
      (offering) =>
        this.ask(`launch of ${name}`, name, signal, (limit) =>
          this.#insert(claim, nodeClass as unknown as GceNodeClass, offering, attempt, limit),
        ),
      (offering, { cause }) => refusedByCompute(offering, cause as ComputeRefusal, this.#shapes),
    );
  }

  /** Without types that do not take the boot disk of the node class. */
  override async catalogue(nodeClass: NodeClass, signal: AbortSignal): Promise<Catalogue> {
    const catalogue = await super.catalogue(nodeClass, signal);
    const category = bootDisk((nodeClass as unknown as GceNodeClass).spec)?.category;
    if (category === undefined) return catalogue;
    const known = this.#bootable.get(category);
    const { instanceTypes: sold } = catalogue;
    const bootable =
      known?.sold === sold ? known : { sold, instanceTypes: sold.filter(({ name }) => isBootable(name, category)) };
    this.#bootable.set(category, bootable);
    return { ...catalogue, instanceTypes: bootable.instanceTypes };
  }

  override async find(claim: NodeClaim, signal: AbortSignal): Promise<Machine | undefined> {
    const found = await this.#find(claim.metadata.uid ?? '', signal);
    return found === undefined ? undefined : this.#machine(found);
  }

  override async get(providerID: string, signal: AbortSignal): Promise<Machine> {
    const { zone, name } = this.#place(providerID);
    return this.ask(providerID, '', signal, async (limit) =>
      this.#machine(await this.#instances.read(zone, name, limit)),
    );
  }

  override async list(_scope: string, signal: AbortSignal): Promise<readonly Machine[]> {
    const found = await this.ask('listing instances', '', signal, (limit) =>
      this.#instances.labelled(LABEL_CLUSTER, labelValue(this.#options.cluster), limit),
    );
    return found.map((instance) => this.#machine(instance));
  }

  override async delete({ claimUID, providerID }: MachineRef, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    const found = providerID === undefined ? await this.#find(claimUID, signal) : this.#place(providerID);
    if (found === undefined) return 'gone';
    const { name } = found;
    try {
      await this.ask(`deleting ${name}`, '', signal, (limit) =>
        this.#instances.remove(lastPart(found.zone), name, limit),
      );
      return 'terminating';
    } catch (error) {
      if (hasCode(error, 'CLOUD_INSTANCE_NOT_FOUND')) return 'gone';
      throw error;
    }
  }

  override machineKey(providerID: string): string | undefined {
    return providerID.startsWith('gce://') ? providerID.slice('gce://'.length) : undefined;
  }

  async #insert(
    claim: NodeClaim,
    { spec, metadata }: GceNodeClass,
    offering: RankedOffering,
    attempt: number,
    signal: AbortSignal,
  ): Promise<Machine> {
    const { project, cluster } = this.#options;
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
    const id = (round: number): string => requestId(uid, zone, instanceType, capacityType, `${attempt}.${round}`);
    return this.#machine(await this.#instances.insert({ zone, name, requestId: id, body }, signal));
  }

  /** The instance of a claim in any zone. */
  async #find(claimUID: string, signal: AbortSignal): Promise<Instance | undefined> {
    const [found] = await this.ask(`looking for ${claimUID}`, '', signal, (limit) =>
      this.#instances.labelled(LABEL_CLAIM, labelValue(claimUID), limit),
    );
    return found;
  }

  #place(providerID: string): { readonly zone: string; readonly name: string } {
    const place = parseGceProviderID(providerID, this.#options.project);
    if (place === undefined) throw new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: providerID });
    return place;
  }

  protected override async sold(signal: AbortSignal): Promise<readonly InstanceType[]> {
    const { api, region } = this.#options;
    const sold = await this.ask('listing machine types', '', signal, (limit) =>
      api.aggregated<SoldType>('machineTypes', 'machineTypes', undefined, limit),
    );
    const zones = new Map<string, string[]>();
    for (const { name, zone } of sold) {
      const place = lastPart(zone);
      if (place.startsWith(`${region}-`)) zones.set(name, [...(zones.get(name) ?? []), place]);
    }
    return [...this.#shapes.values()].flatMap((shape) => gcpInstanceTypes(shape, zones.get(shape.name) ?? [], region));
  }

  #machine(instance: Instance): Machine {
    const { project, region } = this.#options;
    const zone = lastPart(instance.zone);
    const instanceType = lastPart(instance.machineType);
    const shape = this.#shapes.get(instanceType);
    const isSpot = instance.scheduling?.provisioningModel === 'SPOT' || instance.scheduling?.preemptible === true;
    const said = Object.fromEntries((instance.metadata?.items ?? []).map(({ key, value }) => [key, value]));
    const seen = {
      providerID: gceProviderID(project, instance),
      state: instanceState(instance.status),
      ...{ instanceType, zone, capacityType: isSpot ? ('spot' as const) : ('on-demand' as const) },
      launchedAt: parseTimestamp(instance.creationTimestamp) ?? (0 as EpochMs),
      claim: { name: said['spindrift-claim'] ?? '', uid: said['spindrift-claim-uid'] ?? '' },
      pool: said['spindrift-nodepool'] ?? '',
      nodeClass: said['spindrift-nodeclass'] ?? '',
    };
    return machineOfType(seen, region, shape && gcpInstanceTypes(shape, [zone], region)[0]);
  }

  protected override failure(operation: string, claim: string, error: unknown): unknown {
    return computeFailure(operation, claim, error);
  }
}
