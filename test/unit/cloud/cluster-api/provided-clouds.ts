/** The three clouds of whole mode on servers in this process, with what a test does to them. */
import type { Instance } from '@aws-sdk/client-ec2';
import { ImdsSource } from '../../../../src/agent/aws/imds-source.ts';
import { ScheduledEventsSource } from '../../../../src/agent/azure/scheduled-events-source.ts';
import { GcpSource } from '../../../../src/agent/gcp/gcp-source.ts';
import type { WarningSource } from '../../../../src/agent/node-warning.ts';
import { AzureMetadata } from '../../../../src/agent/testkit/azure-metadata.ts';
import { Ec2Metadata } from '../../../../src/agent/testkit/ec2-metadata.ts';
import { GcpMetadata } from '../../../../src/agent/testkit/gcp-metadata.ts';
import { providerIDOf } from '../../../../src/cloud/aws/machines/provider-id.ts';
import { azureProviderID } from '../../../../src/cloud/azure/virtual-machines.ts';
import { AwsInstances } from '../../../../src/cloud/cluster-api/provider/aws/aws-instances.ts';
import { AzureInstances } from '../../../../src/cloud/cluster-api/provider/azure/azure-instances.ts';
import { GcpInstances } from '../../../../src/cloud/cluster-api/provider/gcp/gcp-instances.ts';
import type { InstanceCloud } from '../../../../src/cloud/cluster-api/provider/instance-cloud.ts';
import { toTimestamp } from '../../../../src/platform/clock.ts';
import { SILENT_LOGGER } from '../../../../src/platform/logger.ts';
import type { VirtualClock } from '../../../../src/platform/virtual-clock.ts';
import { ArmServer } from '../../../azure/arm-server.ts';
import { ComputeServer } from '../../../gcp/compute-server.ts';
import { TinyEc2 } from './tiny-ec2.ts';

/** What a machine hears about itself, and how a test makes it hear it. */
export interface NodeVoice {
  readonly source: WarningSource;
  /** The cloud says that it takes the machine back, as long before as it does. */
  warn(): void;
}

export interface ProvidedCloud {
  readonly cloud: InstanceCloud;
  readonly machineKind: string;
  readonly zone: string;
  readonly clusterSpec: object;
  spec(market: 'spot' | 'on-demand'): object;
  /** Provider IDs of instances that have power. */
  powered(): readonly string[];
  /** How many instances there ever were, and how many are paid for. */
  launches(): number;
  paidFor(): number;
  /** How often a launch was asked for, whatever came of it. */
  attempts(): number;
  /** The body of the last launch. */
  lastOrder(): object;
  sellOut(): void;
  takeBack(providerID: string): void;
  loseNextAnswer(): void;
  voice(providerID: string): NodeVoice;
}

export const PROVIDED_CLOUDS: Readonly<Record<'aws' | 'gcp' | 'azure', (clock: VirtualClock) => ProvidedCloud>> = {
  aws: (clock) => {
    const ec2 = new TinyEc2(clock);
    const idOf = ({ Placement, InstanceId = '' }: Instance): string =>
      providerIDOf(Placement?.AvailabilityZone ?? '', InstanceId);
    return {
      cloud: new AwsInstances(clock, () => ec2),
      machineKind: 'AWSMachine',
      zone: 'us-east-1a',
      clusterSpec: { region: 'us-east-1', network: { subnets: [{ id: 'subnet-1', availabilityZone: 'us-east-1a' }] } },
      spec: (market) => ({
        ...{ instanceType: 'm5.xlarge', ami: { id: 'ami-1' } },
        ...(market === 'spot' && { spotMarketOptions: { maxPrice: '0.08' } }),
      }),
      powered: () => ec2.live.filter(({ State }) => State?.Name === 'running').map(idOf),
      launches: () => ec2.instances.length,
      attempts: () => ec2.launches.length,
      paidFor: () => ec2.live.length,
      lastOrder: () => ec2.launches.at(-1) ?? {},
      sellOut: () => {
        ec2.refusal = { code: 'InsufficientInstanceCapacity', message: 'There is no Spot capacity available.' };
      },
      takeBack: (providerID) => ec2.takeBack(providerID.slice(providerID.lastIndexOf('/') + 1)),
      loseNextAnswer: () => {
        ec2.loseAnswer = true;
      },
      voice: () => {
        const metadata = new Ec2Metadata(clock);
        return {
          source: new ImdsSource({ clock, logger: SILENT_LOGGER, ask: metadata.ask }),
          warn: () => {
            const time = toTimestamp((clock.now() + 120_000) as never);
            metadata.values.set('spot/instance-action', JSON.stringify({ action: 'terminate', time }));
          },
        };
      },
    };
  },
  gcp: (clock) => {
    const server = new ComputeServer({ clock, machineTypes: ['n2-standard-4'] });
    let attempts = 0;
    const nameOf = (providerID: string): string => providerID.slice(providerID.lastIndexOf('/') + 1);
    return {
      cloud: new GcpInstances({
        ...{ clock, endpoint: 'https://compute.googleapis.com/compute/v1', token: async () => 'token' },
        send: (call, signal) => {
          if (call.method === 'POST') attempts++;
          return server.handle(call, signal);
        },
      }),
      machineKind: 'GCPMachine',
      zone: 'us-central1-a',
      clusterSpec: { project: 'p', region: 'us-central1', network: { name: 'capg' } },
      spec: (market) => ({
        ...{ instanceType: 'n2-standard-4', image: 'projects/p/global/images/node', subnet: 'nodes' },
        ...(market === 'spot' && { provisioningModel: 'Spot' }),
      }),
      powered: () =>
        server.all.filter(({ status }) => status === 'RUNNING').map(({ zone, name }) => `gce://p/${zone}/${name}`),
      launches: () => server.launches,
      attempts: () => attempts,
      paidFor: () => server.all.length,
      lastOrder: () => server.all.at(-1)?.body ?? {},
      sellOut: () => {
        server.exhausted.add('us-central1-a/n2-standard-4/SPOT');
      },
      takeBack: (providerID) => server.preempt(nameOf(providerID)),
      loseNextAnswer: () => {
        server.trouble = 'lost-answer';
        clock.setTimer(60_000, () => {
          server.trouble = undefined;
        });
      },
      voice: () => {
        const metadata = new GcpMetadata(clock);
        return {
          source: new GcpSource({ clock, logger: SILENT_LOGGER, ask: metadata.ask, noticeMs: 30_000 }),
          warn: () => metadata.set('preempted', 'TRUE'),
        };
      },
    };
  },
  azure: (clock) => {
    const server = new ArmServer({ clock, sizes: ['Standard_D4s_v5'] });
    let attempts = 0;
    const nameOf = (providerID: string): string => providerID.slice(providerID.lastIndexOf('/') + 1);
    return {
      cloud: new AzureInstances({
        ...{ clock, endpoint: 'https://management.azure.com', token: async () => 'token' },
        send: (call, signal) => {
          if (call.method === 'PUT' && call.url.includes('/virtualMachines/')) attempts++;
          return server.handle(call, signal);
        },
      }),
      machineKind: 'AzureMachine',
      zone: '1',
      clusterSpec: {
        ...{ subscriptionID: 's', resourceGroup: 'Nodes', location: 'eastus' },
        networkSpec: { vnet: { name: 'net' }, subnets: [{ name: 'nodes', role: 'node' }] },
      },
      spec: (market) => ({
        ...{ vmSize: 'Standard_D4s_v5', image: { id: '/images/node' } },
        sshPublicKey: Buffer.from('ssh-ed25519 AAAA key').toString('base64'),
        ...(market === 'spot' && { spotVMOptions: { maxPrice: '0.04' } }),
      }),
      powered: () =>
        server.all
          .filter(({ state, isOff }) => state === 'Succeeded' && !isOff)
          .map(({ name }) => azureProviderID('s', 'Nodes', name)),
      launches: () => server.launches,
      attempts: () => attempts,
      paidFor: () => server.leftovers,
      lastOrder: () => server.all.at(-1)?.body ?? {},
      sellOut: () => {
        server.exhausted.add('1/Standard_D4s_v5/Spot');
      },
      takeBack: (providerID) => server.evict(nameOf(providerID)),
      loseNextAnswer: () => {
        server.trouble = 'lost-answer';
        clock.setTimer(60_000, () => {
          server.trouble = undefined;
        });
      },
      voice: (providerID) => {
        const name = nameOf(providerID);
        const metadata = new AzureMetadata(name);
        return {
          source: new ScheduledEventsSource({ clock, logger: SILENT_LOGGER, ask: metadata.ask }),
          warn: () =>
            metadata.set([
              {
                ...{ EventId: '1', EventType: 'Preempt', Resources: [name] },
                NotBefore: new Date(clock.now() + 30_000).toUTCString(),
              },
            ]),
        };
      },
    };
  },
};
