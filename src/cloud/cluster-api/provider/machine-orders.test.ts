/** What each cloud is asked for, from the spec of an infrastructure machine. Numbers are those of the acceptance table (7.1). */
import { describe, expect, it } from 'vitest';
import { machineSettings, type RawSpec } from '../infrastructure/machine-settings.ts';
import { runInstancesInput } from './aws/run-instances-input.ts';
import { azureInterfaceBody, azureVmBody, missingInAzureCluster } from './azure/azure-machine-body.ts';
import { gcpMachineBody } from './gcp/gcp-machine-body.ts';
import type { InstanceOrder } from './instance-cloud.ts';

function order(kind: string, spec: RawSpec, clusterSpec: RawSpec, more: Partial<InstanceOrder> = {}): InstanceOrder {
  return {
    uid: '11111111-2222-4333-8444-555555555555',
    machine: 'default/m',
    clusterName: 'fleet',
    cluster: { apiVersion: 'x/v1', kind: 'Cluster', metadata: { name: 'fleet' }, spec: clusterSpec },
    spec,
    settings: machineSettings(kind, spec),
    userData: Buffer.from('#cloud-config'),
    role: 'node',
    ...more,
  };
}

const AWS_CLUSTER = {
  region: 'us-east-1',
  network: {
    subnets: [
      { id: 'subnet-a', availabilityZone: 'us-east-1a' },
      { id: 'subnet-b', availabilityZone: 'us-east-1b' },
      { id: 'subnet-b-public', availabilityZone: 'us-east-1b', isPublic: true },
    ],
    securityGroupOverrides: { node: 'sg-node' },
  },
};
const aws = (spec: RawSpec, more: Partial<InstanceOrder> = {}) =>
  runInstancesInput(
    order('AWSMachine', { instanceType: 'm5.large', ...spec }, AWS_CLUSTER, more),
    { id: 'ami-1', rootDevice: '/dev/xvda' },
    Buffer.from('data'),
  );

describe('an AWSMachine', () => {
  it('4, 18, 20, 21, 22: is one instance by RunInstances; spot is always one-time and terminated, whatever else is written', () => {
    const input = aws({
      spotMarketOptions: { spotInstanceType: 'persistent', instanceInterruptionBehavior: 'hibernate' },
    });
    expect(input).toMatchObject({ MinCount: 1, MaxCount: 1, ClientToken: '11111111-2222-4333-8444-555555555555' });
    expect(input.InstanceMarketOptions).toEqual({
      MarketType: 'spot',
      SpotOptions: { SpotInstanceType: 'one-time', InstanceInterruptionBehavior: 'terminate' },
    });
  });

  it('18, 19: passes a price on as it is written, and none where none or an empty one is', () => {
    const priceOf = (options: object) =>
      aws({ spotMarketOptions: options }).InstanceMarketOptions?.SpotOptions?.MaxPrice;
    expect(priceOf({ maxPrice: '0.05' })).toBe('0.05');
    expect(priceOf({})).toBeUndefined();
    expect(priceOf({ maxPrice: '' })).toBeUndefined();
    expect(aws({}).InstanceMarketOptions).toBeUndefined();
    expect(aws({ marketType: 'Spot' }).InstanceMarketOptions).toMatchObject({ MarketType: 'spot' });
  });

  it('goes into the subnet of its zone, private unless it asks for an address, with the groups of its cluster and its own', () => {
    expect(aws({}, { zone: 'us-east-1b' }).SubnetId).toBe('subnet-b');
    expect(aws({ publicIP: true }, { zone: 'us-east-1b' }).SubnetId).toBe('subnet-b-public');
    expect(aws({ subnet: { id: 'subnet-own' } }).SubnetId).toBe('subnet-own');
    expect(aws({ additionalSecurityGroups: [{ id: 'sg-own' }] }).SecurityGroupIds).toEqual(['sg-node', 'sg-own']);
    expect(() => aws({}, { zone: 'us-east-1c' })).toThrow('AWSCluster fleet has no subnet in us-east-1c for default/m');
  });

  it('44: names a reservation where its spec does, and manages none', () => {
    expect(aws({ capacityReservationId: 'cr-1' }).CapacityReservationSpecification).toEqual({
      CapacityReservationTarget: { CapacityReservationId: 'cr-1' },
    });
    const { problems } = machineSettings('AWSMachine', { spotMarketOptions: {}, capacityReservationId: 'cr-1' });
    expect(problems).toMatchObject([{ severity: 'refused', field: 'capacityReservationId' }]);
  });

  it('is refused with a sentence when its bootstrap data is longer than EC2 takes', () => {
    const long = Buffer.alloc(20_000);
    expect(() =>
      runInstancesInput(
        order('AWSMachine', { instanceType: 'm5.large' }, AWS_CLUSTER),
        { id: 'a', rootDevice: 'r' },
        long,
      ),
    ).toThrow('the bootstrap data of default/m has 20000 bytes when packed, and EC2 takes 16384');
  });
});

describe('a GCPMachine', () => {
  const place = { project: 'p', region: 'us-central1', zone: 'us-central1-a', name: 'x' };
  const body = (spec: RawSpec) =>
    gcpMachineBody(
      order(
        'GCPMachine',
        { instanceType: 'n2-standard-4', image: 'projects/p/global/images/i', ...spec },
        {
          project: 'p',
          region: 'us-central1',
          network: { name: 'net' },
        },
      ),
      place,
    ) as { scheduling: object; networkInterfaces: object[] };

  it('11, 24: says preemptible and the provisioning model to the API, and never restarts an instance that was taken back', () => {
    const taken = { preemptible: true, automaticRestart: false, onHostMaintenance: 'TERMINATE' };
    expect(body({ preemptible: true }).scheduling).toEqual(taken);
    expect(body({ provisioningModel: 'Standard', preemptible: true }).scheduling).toEqual(taken);
    expect(body({ provisioningModel: 'Spot' }).scheduling).toEqual({
      ...taken,
      provisioningModel: 'SPOT',
      instanceTerminationAction: 'DELETE',
    });
    expect(body({}).scheduling).toEqual({ provisioningModel: 'STANDARD', automaticRestart: true });
  });

  it('is in the network of its cluster, with an address only where it asks for one', () => {
    const network = 'projects/p/global/networks/net';
    expect(body({}).networkInterfaces).toEqual([{ network }]);
    expect(body({ subnet: 's', publicIP: true }).networkInterfaces).toEqual([
      {
        network,
        subnetwork: 'projects/p/regions/us-central1/subnetworks/s',
        accessConfigs: [{ type: 'ONE_TO_ONE_NAT', name: 'External NAT' }],
      },
    ]);
  });

  it('without an image is refused with a sentence', () => {
    expect(() => body({ image: '' })).toThrow('GCPMachine default/m names no image');
  });
});

describe('an AzureMachine', () => {
  const cluster = {
    subscriptionID: 's',
    resourceGroup: 'g',
    location: 'eastus',
    networkSpec: { vnet: { name: 'net', resourceGroup: 'network' }, subnets: [{ name: 'nodes', role: 'node' }] },
  };
  const machine = { vmSize: 'Standard_D2s_v5', image: { id: '/images/i' }, sshPublicKey: 'a2V5' };
  const vm = (spec: RawSpec) =>
    (
      azureVmBody(order('AzureMachine', { ...machine, ...spec }, cluster, { zone: '2' }), 'x', '/nic') as {
        properties: Record<string, unknown>;
      }
    ).properties;

  it('27, 28, 29: is spot when spotVMOptions is there; no price means -1; the policy is inferred', () => {
    expect(vm({})).toMatchObject({ priority: 'Regular' });
    expect(vm({}).billingProfile).toBeUndefined();
    expect(vm({ spotVMOptions: {} })).toMatchObject({
      priority: 'Spot',
      evictionPolicy: 'Deallocate',
      billingProfile: { maxPrice: -1 },
    });
    expect(vm({ spotVMOptions: { evictionPolicy: 'Delete' } })).toMatchObject({ evictionPolicy: 'Delete' });
    const ephemeral = { osDisk: { diffDiskSettings: { option: 'Local' } } };
    expect(vm({ spotVMOptions: {}, ...ephemeral })).toMatchObject({ evictionPolicy: 'Delete' });
  });

  it.each([
    ['0.04', 0.04],
    ['40m', 0.04],
    [1, 1],
    [-1, -1],
  ])('28: takes the quantity %s as a price', (maxPrice, price) => {
    expect(vm({ spotVMOptions: { maxPrice } }).billingProfile).toEqual({ maxPrice: price });
  });

  it('uses the subnet of its cluster with the role node, or the one it names', () => {
    const subnet = (spec: RawSpec): unknown => JSON.stringify(azureInterfaceBody(order('AzureMachine', spec, cluster)));
    expect(subnet({})).toContain(
      '/resourceGroups/network/providers/Microsoft.Network/virtualNetworks/net/subnets/nodes',
    );
    expect(() => subnet({ networkInterfaces: [{ subnetName: 'other' }] })).toThrow('has no subnet other for default/m');
    expect(missingInAzureCluster({ ...cluster, location: '' })).toBe('spec.location is empty: say where the VMs are');
  });
});
