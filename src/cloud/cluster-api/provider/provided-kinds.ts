/** The infrastructure kinds that Spindrift can reconcile itself, and how the provider is recognised whose kinds they are. */
import type { Provider } from '../infrastructure/machine-settings.ts';

export interface ProvidedKinds {
  readonly provider: Provider;
  readonly machine: 'AWSMachine' | 'GCPMachine' | 'AzureMachine';
  readonly cluster: 'AWSCluster' | 'GCPCluster' | 'AzureCluster';
  /** How the provider itself is recognised. */
  readonly controller: ControllerMarks;
  /** The provider's finalizer on its machines: it looks after those that carry it. */
  readonly finalizer: string;
  /** Where the status says the cloud's own word for the state of the instance. */
  readonly stateField: 'instanceState' | 'instanceStatus' | 'vmState';
}

/** By what a running controller of Cluster API is recognised. */
export interface ControllerMarks {
  readonly name: string;
  /** The value of the label `cluster.x-k8s.io/provider` on its Deployment. */
  readonly component: string;
  /** How the Lease of its leader ends. */
  readonly lease: string;
}

export const PROVIDED_KINDS: Readonly<Record<Provider, ProvidedKinds>> = {
  aws: {
    provider: 'aws',
    machine: 'AWSMachine',
    cluster: 'AWSCluster',
    controller: { name: 'CAPA', component: 'infrastructure-aws', lease: '-capa' },
    finalizer: 'awsmachine.infrastructure.cluster.x-k8s.io',
    stateField: 'instanceState',
  },
  gcp: {
    provider: 'gcp',
    machine: 'GCPMachine',
    cluster: 'GCPCluster',
    controller: { name: 'CAPG', component: 'infrastructure-gcp', lease: '-capg' },
    finalizer: 'gcpmachine.infrastructure.cluster.x-k8s.io',
    stateField: 'instanceStatus',
  },
  azure: {
    provider: 'azure',
    machine: 'AzureMachine',
    cluster: 'AzureCluster',
    controller: { name: 'CAPZ', component: 'infrastructure-azure', lease: '-capz' },
    finalizer: 'azuremachine.infrastructure.cluster.x-k8s.io',
    stateField: 'vmState',
  },
};

/** The core of Cluster API, beside which the minimal core never runs. */
export const REAL_CORE: ControllerMarks = { name: 'Cluster API', component: 'cluster-api', lease: '-capi' };
