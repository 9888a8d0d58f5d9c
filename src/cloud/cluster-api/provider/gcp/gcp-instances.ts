/** Instances of Compute Engine for GCPMachines, found again in every zone by a label. */
import type { Clock } from '../../../../platform/clock.ts';
import { hasCode, SpindriftError } from '../../../../platform/errors.ts';
import { ComputeApi, type ComputeApiOptions } from '../../../gcp/compute-api.ts';
import { computeFailure } from '../../../gcp/compute-failure.ts';
import {
  ComputeInstances,
  gceProviderID,
  type Instance,
  instanceState,
  lastPart,
  parseGceProviderID,
} from '../../../gcp/compute-instances.ts';
import { labelValue, requestId } from '../../../gcp/instance-body.ts';
import { limitedCall } from '../../../thin/limited-call.ts';
import { type RawSpec, textAt } from '../../infrastructure/machine-settings.ts';
import type { InfrastructureObject } from '../../infrastructure-objects.ts';
import type { InstanceCloud, InstanceOrder, InstancePlace, SeenInstance } from '../instance-cloud.ts';
import { PROVIDED_KINDS } from '../provided-kinds.ts';
import { gcpMachineBody, LABEL_MACHINE_UID } from './gcp-machine-body.ts';

export type GcpInstancesOptions = Omit<ComputeApiOptions, 'project'>;

const TIMEOUT_MS = 180_000;

export class GcpInstances implements InstanceCloud {
  readonly kinds = PROVIDED_KINDS.gcp;
  readonly settleMs = 10_000;
  readonly #options: GcpInstancesOptions;
  readonly #clock: Clock;

  constructor(options: GcpInstancesOptions) {
    this.#options = options;
    this.#clock = options.clock;
  }

  missing({ spec = {} }: InfrastructureObject): string | undefined {
    if (textAt(spec, 'project') === undefined) return 'spec.project is empty: name the project of the instances';
    return textAt(spec, 'region') === undefined ? 'spec.region is empty: name the region of the instances' : undefined;
  }

  async create(order: InstanceOrder, signal: AbortSignal): Promise<SeenInstance> {
    const { uid, machine, cluster, zone } = order;
    const project = projectOf(cluster.spec ?? {});
    const region = textAt(cluster.spec ?? {}, 'region') ?? '';
    if (zone === undefined) {
      const problem = `${machine} has no zone: set failureDomain of its Machine`;
      throw new SpindriftError('CLOUD_REFUSED', { operation: 'inserting an instance', problem });
    }
    const name = `spindrift-${uid}`.slice(0, 63);
    const body = gcpMachineBody(order, { project, region, zone, name });
    const insert = { zone, name, requestId: (round: number) => requestId(uid, zone, `${round}`), body };
    const made = await this.#ask(`launch of ${machine}`, machine, signal, (limit) =>
      this.#instances(order).insert(insert, limit),
    ).catch((error) => {
      // Taken back before it was seen: one machine has one instance, so no other is made.
      if (!hasCode(error, 'CLOUD_INSTANCE_NOT_FOUND')) throw error;
      const problem = error.cause instanceof Error ? error.cause.message : error.message;
      throw new SpindriftError('CLOUD_REFUSED', { operation: `launch of ${machine}`, problem }, { cause: error });
    });
    return seen(project, made);
  }

  async find(place: InstancePlace, signal: AbortSignal): Promise<SeenInstance | undefined> {
    const project = projectOf(place.cluster.spec ?? {});
    const found = await this.#find(place, signal);
    return found && seen(project, found);
  }

  async remove(place: InstancePlace, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    const found = await this.#find(place, signal);
    if (found === undefined) return 'gone';
    try {
      await this.#ask(`deleting ${found.name}`, place.machine, signal, (limit) =>
        this.#instances(place).remove(lastPart(found.zone), found.name, limit),
      );
      return 'terminating';
    } catch (error) {
      if (hasCode(error, 'CLOUD_INSTANCE_NOT_FOUND')) return 'gone';
      throw error;
    }
  }

  async #find(place: InstancePlace, signal: AbortSignal): Promise<Instance | undefined> {
    const known = place.providerID && parseGceProviderID(place.providerID, projectOf(place.cluster.spec ?? {}));
    const instances = this.#instances(place);
    try {
      return await this.#ask(`looking for ${place.machine}`, place.machine, signal, async (limit) =>
        known
          ? instances.read(known.zone, known.name, limit)
          : (await instances.labelled(LABEL_MACHINE_UID, labelValue(place.uid), limit))[0],
      );
    } catch (error) {
      if (hasCode(error, 'CLOUD_INSTANCE_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  #instances({ cluster }: InstancePlace): ComputeInstances {
    return new ComputeInstances(new ComputeApi({ ...this.#options, project: projectOf(cluster.spec ?? {}) }));
  }

  #ask<Answer>(
    operation: string,
    machine: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const failure = (error: unknown): unknown => computeFailure(operation, machine, error);
    return limitedCall({ clock: this.#clock, timeoutMs: TIMEOUT_MS, signal, failure }, work);
  }
}

function projectOf(spec: RawSpec): string {
  return textAt(spec, 'project') ?? '';
}

function seen(project: string, instance: Instance): SeenInstance {
  const addresses = (instance.networkInterfaces ?? []).flatMap(({ networkIP, accessConfigs = [] }) => [
    ...(networkIP === undefined ? [] : [{ type: 'InternalIP' as const, address: networkIP }]),
    ...accessConfigs.flatMap(({ natIP }) =>
      natIP === undefined ? [] : [{ type: 'ExternalIP' as const, address: natIP }],
    ),
  ]);
  return {
    providerID: gceProviderID(project, instance),
    state: instanceState(instance.status),
    stateText: instance.status,
    zone: lastPart(instance.zone),
    addresses,
  };
}
