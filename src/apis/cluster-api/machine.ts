/** Machine, cluster.x-k8s.io: what we read of it in its v1beta1 and v1beta2 shapes. */
import type { Taint } from '../kubernetes/node.ts';
import type { Condition, KubeObject, ObjectMeta } from '../kubernetes/object.ts';
import type { Reference } from './reference.ts';

export interface MachineSpec {
  readonly clusterName?: string;
  readonly bootstrap?: { readonly configRef?: Reference; readonly dataSecretName?: string };
  readonly infrastructureRef?: Reference;
  readonly version?: string;
  readonly providerID?: string;
  /** The zone, as the provider calls it. */
  readonly failureDomain?: string;
  readonly taints?: readonly (Taint & { readonly propagation?: string })[];
}

/** What a MachineDeployment or MachineSet makes machines from. */
export interface MachineTemplate {
  readonly metadata?: Pick<ObjectMeta, 'labels' | 'annotations'>;
  readonly spec?: MachineSpec;
}

export interface CoreMachine extends KubeObject {
  readonly spec?: MachineSpec;
  readonly status?: {
    readonly phase?: string;
    readonly nodeRef?: { readonly name?: string };
    readonly failureDomain?: string;
    readonly conditions?: readonly Condition[];
    /** v1beta1 only: the machine is lost. */
    readonly failureReason?: string;
    readonly failureMessage?: string;
  };
}
