/** What an infrastructure machine needs next, in the order that Cluster API's contract asks for. Pure. */
import type { ClusterApiCluster } from '../../../apis/cluster-api/core-kinds.ts';
import type { CoreMachine } from '../../../apis/cluster-api/machine.ts';
import { LABEL_CONTROL_PLANE } from '../../../apis/cluster-api/names.ts';
import { machineSettings } from '../infrastructure/machine-settings.ts';
import type { InfrastructureObject } from '../infrastructure-objects.ts';

/** The Machine, the Cluster and its infrastructure that an infrastructure machine belongs to, as far as they exist. */
export interface MachineScene {
  readonly owner?: CoreMachine | undefined;
  readonly cluster?: ClusterApiCluster | undefined;
  readonly infrastructureCluster?: InfrastructureObject | undefined;
}

export type MachineStep =
  | { readonly kind: 'wait'; readonly reason: string; readonly message: string }
  /** The spec can never be launched. */
  | { readonly kind: 'fail'; readonly reason: string; readonly message: string }
  /** It has failed; only its deletion ends that, so that nothing is tried in a loop. */
  | { readonly kind: 'stay-failed' }
  | { readonly kind: 'launch'; readonly bootstrapSecret: string }
  /** It has its one instance: look how that is. */
  | { readonly kind: 'observe' };

export function decideMachineStep(machine: InfrastructureObject, scene: MachineScene): MachineStep {
  const { owner, cluster, infrastructureCluster } = scene;
  const { kind, spec = {}, status = {} } = machine;
  if (owner === undefined) return wait('WaitingForOwner', 'no Machine owns it yet');
  if (cluster === undefined) return wait('WaitingForCluster', 'its Cluster is not there');
  if (infrastructureCluster === undefined)
    return wait('WaitingForClusterInfrastructure', 'the infrastructure object of its Cluster is not there');
  if (typeof spec.providerID === 'string' && spec.providerID !== '') return { kind: 'observe' };
  if (status.failureReason !== undefined) return { kind: 'stay-failed' };
  if (!isInfrastructureReady(cluster))
    return wait('WaitingForClusterInfrastructure', 'the infrastructure of its Cluster is not provisioned');
  const bootstrapSecret = owner.spec?.bootstrap?.dataSecretName;
  if (bootstrapSecret === undefined || bootstrapSecret === '')
    return wait('WaitingForBootstrapData', 'its Machine has no bootstrap data yet');
  const { problems, spot, instanceType } = machineSettings(kind, spec);
  const refused = problems.find(({ severity }) => severity === 'refused');
  if (refused !== undefined) return fail('InvalidConfiguration', `spec.${refused.field} ${refused.message}`);
  if (instanceType === undefined)
    return fail(
      'InvalidConfiguration',
      `spec.${kind === 'AzureMachine' ? 'vmSize' : 'instanceType'} is empty: name a machine type`,
    );
  const isControlPlane =
    owner.metadata.labels?.[LABEL_CONTROL_PLANE] !== undefined ||
    machine.metadata.labels?.[LABEL_CONTROL_PLANE] !== undefined;
  if (isControlPlane && spot !== undefined)
    return fail(
      'ControlPlaneOnSpot',
      'a control plane cannot run on capacity that may be taken back, as etcd may lose its quorum: remove the spot fields from its template',
    );
  return { kind: 'launch', bootstrapSecret };
}

/** Whether the Cluster says that its network is there, in either contract. */
function isInfrastructureReady({ status }: ClusterApiCluster): boolean {
  return status?.initialization?.infrastructureProvisioned === true || status?.infrastructureReady === true;
}

function wait(reason: string, message: string): MachineStep {
  return { kind: 'wait', reason, message };
}

function fail(reason: string, message: string): MachineStep {
  return { kind: 'fail', reason, message };
}
