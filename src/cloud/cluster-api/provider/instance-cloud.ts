/**
 * What the infrastructure provider asks of a cloud: one instance for one infrastructure machine, found again by the machine's UID, which
 * the instance carries. It neither chooses a type nor looks whether there is capacity, and never makes an instance a second time.
 */
import type { MachineSettings, RawSpec } from '../infrastructure/machine-settings.ts';
import type { InfrastructureObject } from '../infrastructure-objects.ts';
import type { ProvidedKinds } from './provided-kinds.ts';

/** Names the instance of a machine. */
export interface InstancePlace {
  /** The UID of the infrastructure machine. */
  readonly uid: string;
  /** Its namespace and name, for messages. */
  readonly machine: string;
  readonly clusterName: string;
  /** The AWSCluster, GCPCluster or AzureCluster: region, account and network are written there. */
  readonly cluster: InfrastructureObject;
  /** Once it is known. */
  readonly providerID?: string;
}

/** An instance to launch. */
export interface InstanceOrder extends InstancePlace {
  /** The spec of the infrastructure machine. */
  readonly spec: RawSpec;
  readonly settings: MachineSettings;
  /** The failure domain of the Machine, or of the infrastructure machine. */
  readonly zone?: string;
  /** The Kubernetes version of the Machine, with its `v`. */
  readonly version?: string;
  /** What makes the instance join the cluster. */
  readonly userData: Buffer;
  readonly role: 'node' | 'control-plane';
}

export interface MachineAddress {
  readonly type: 'Hostname' | 'InternalIP' | 'ExternalIP' | 'InternalDNS' | 'ExternalDNS';
  readonly address: string;
}

/** An instance as its cloud shows it. */
export interface SeenInstance {
  /** As on the Node, byte for byte. */
  readonly providerID: string;
  readonly state: 'pending' | 'running' | 'stopping' | 'stopped' | 'gone';
  /** The cloud's own word for the state. */
  readonly stateText: string;
  readonly zone: string;
  readonly addresses: readonly MachineAddress[];
  /** Further fields that the provider writes into the spec: `instanceID` of an AWSMachine. */
  readonly spec?: Readonly<Record<string, string>>;
}

export interface InstanceCloud {
  readonly kinds: ProvidedKinds;
  /** How long after a launch the cloud may not show the instance yet. */
  readonly settleMs: number;
  /** What the infrastructure cluster lacks; undefined when instances can be launched into it. */
  missing(cluster: InfrastructureObject): string | undefined;
  /**
   * Launches. The same order again is one launch. Errors of retry class `capacity` and `terminal` are lasting; after other errors it is not known
   * whether something was launched.
   */
  create(order: InstanceOrder, signal: AbortSignal): Promise<SeenInstance>;
  /** The instance; undefined where the cloud shows none. */
  find(place: InstancePlace, signal: AbortSignal): Promise<SeenInstance | undefined>;
  /** Has the instance and all that came with it deleted. Called again until nothing is left. */
  remove(place: InstancePlace, signal: AbortSignal): Promise<'terminating' | 'gone'>;
}
