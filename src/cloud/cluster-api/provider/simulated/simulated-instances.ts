/** Instances of the simulated cloud for AWSMachines, for trying things out: its types have the names of EC2's, its zones are its own. */
import { SpindriftError } from '../../../../platform/errors.ts';
import { apiFailure } from '../../../simulated/api-failure.ts';
import type { RunRequest, SimulatedCloud } from '../../../simulated/simulated-cloud.ts';
import { parseProviderID, type SimulatedInstance } from '../../../simulated/simulated-instance.ts';
import type { InstanceCloud, InstanceOrder, InstancePlace, SeenInstance } from '../instance-cloud.ts';
import { PROVIDED_KINDS } from '../provided-kinds.ts';

/** Not the tags of claims: the simulated driver leaves machines alone that carry none. */
const TAG_MACHINE_UID = 'spindrift.dev/machine-uid';

export class SimulatedInstances implements InstanceCloud {
  readonly kinds = PROVIDED_KINDS.aws;
  readonly settleMs = 5_000;
  readonly #cloud: SimulatedCloud;
  readonly #account: string;

  /** Machines are launched in one account, the name of a SimulatedNodeClass. */
  constructor(cloud: SimulatedCloud, account: string) {
    this.#cloud = cloud;
    this.#account = account;
  }

  missing(): undefined {
    return undefined;
  }

  async create({ uid, machine, zone, settings }: InstanceOrder, signal: AbortSignal): Promise<SeenInstance> {
    if (zone === undefined) {
      const problem = `${machine} has no zone: set failureDomain of its Machine, to sim-1a for example`;
      throw new SpindriftError('CLOUD_REFUSED', { operation: 'run instance', problem });
    }
    const capacityType = settings.spot === undefined ? 'on-demand' : 'spot';
    const offering = { instanceType: settings.instanceType ?? '', zone, capacityType } as const;
    const request: RunRequest = {
      ...{ token: uid, offering, tags: { [TAG_MACHINE_UID]: uid }, bootstrap: { labels: {}, taints: [] } },
      openReservations: 'none',
    };
    return this.#ask(machine, async () => seen(await this.#cloud.runInstance(this.#account, request, signal)));
  }

  async find({ uid, providerID }: InstancePlace): Promise<SeenInstance | undefined> {
    const known = providerID === undefined ? undefined : parseProviderID(providerID)?.id;
    const found = known === undefined ? this.#cloud.fleet.ofToken(uid) : this.#cloud.fleet.get(known);
    return found === undefined || found === 'gone' ? undefined : seen(found);
  }

  async remove(place: InstancePlace, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    const found = await this.find(place);
    const id = found && parseProviderID(found.providerID)?.id;
    if (id === undefined) return 'gone';
    await this.#ask(place.machine, () => this.#cloud.terminateInstance(id, signal));
    return 'terminating';
  }

  async #ask<Answer>(machine: string, work: () => Promise<Answer>): Promise<Answer> {
    try {
      return await work();
    } catch (error) {
      throw apiFailure(machine, error);
    }
  }
}

const STATES: Readonly<Record<SimulatedInstance['state'], SeenInstance['state']>> = {
  pending: 'pending',
  running: 'running',
  stopping: 'stopping',
  stopped: 'stopped',
  failed: 'stopped',
  terminated: 'gone',
};

function seen({ id, providerID, state, zone }: SimulatedInstance): SeenInstance {
  return { providerID, state: STATES[state], stateText: state, zone, addresses: [], spec: { instanceID: id } };
}
