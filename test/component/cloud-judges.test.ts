/** The clouds' own SDKs drive our local servers and accept their answers, and our request bodies; skipped where they are not installed. */
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { interfaceBody, vmBody } from '../../src/cloud/azure/vm-body.ts';
import { machineSettings, type RawSpec } from '../../src/cloud/cluster-api/infrastructure/machine-settings.ts';
import { azureInterfaceBody, azureVmBody } from '../../src/cloud/cluster-api/provider/azure/azure-machine-body.ts';
import { gcpMachineBody } from '../../src/cloud/cluster-api/provider/gcp/gcp-machine-body.ts';
import type { InstanceOrder } from '../../src/cloud/cluster-api/provider/instance-cloud.ts';
import { instanceBody } from '../../src/cloud/gcp/instance-body.ts';
import type { RankedOffering } from '../../src/engine/solution.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { ArmServer } from '../azure/arm-server.ts';
import { ComputeServer } from '../gcp/compute-server.ts';
import { findSdks } from '../peers/python-sdks.ts';

const python = findSdks();
const run = promisify(execFile);
const clock = new RealClock();

async function judge(script: string, url: string, bodies: unknown): Promise<Record<string, unknown>> {
  const file = join(mkdtempSync(join(tmpdir(), 'spindrift-judge-')), 'bodies.json');
  writeFileSync(file, JSON.stringify(bodies));
  const { stdout } = await run(python ?? '', [join(import.meta.dirname, '..', script, 'judge.py'), url, file], {
    timeout: 50_000,
  });
  return JSON.parse(stdout) as Record<string, unknown>;
}

function machineOrder(kind: string, spec: RawSpec, cluster: RawSpec): InstanceOrder {
  return {
    ...{ uid: '11111111-2222-4333-8444-555555555555', machine: 'default/m', clusterName: 'fleet', role: 'node' },
    cluster: { apiVersion: 'x/v1', kind: 'Cluster', metadata: { name: 'fleet' }, spec: cluster },
    ...{ spec, settings: machineSettings(kind, spec), userData: Buffer.from('#cloud-config'), zone: '1' },
  } as InstanceOrder;
}

function gcpMachine(spec: RawSpec): object {
  const machine = {
    ...{ instanceType: 'e2-standard-2', imageFamily: 'node', subnet: 'nodes', additionalNetworkTags: ['a'], ...spec },
    ...{ additionalDisks: [{ deviceType: 'local-ssd' }], shieldedInstanceConfig: { secureBoot: 'Enabled' } },
  };
  const place = { project: 'p', region: 'us-central1', zone: 'us-central1-a', name: 'spindrift-2' };
  return gcpMachineBody(machineOrder('GCPMachine', machine, { project: 'p', region: 'us-central1' }), place);
}

describe.skipIf(python === undefined)('the SDKs of', () => {
  it('Google accept the Compute server, and the discovery document our instances', async () => {
    const server = new ComputeServer({ clock, operationMs: 100 });
    const { url, close } = await server.listen();
    const offering = (capacityType: 'spot' | 'on-demand'): RankedOffering => ({
      instanceType: 'e2-standard-2',
      zone: 'us-central1-a',
      capacityType,
      price: 1,
    });
    const spec = {
      imageSelectorTerms: [{ id: 'projects/p/global/images/node' }],
      serviceAccount: 'a@p.iam.gserviceaccount.com',
      networkTags: ['node'],
      startupScript: 'true',
    };
    const input = { name: 'spindrift-1', project: 'p', spec, labels: { a: 'b' }, metadata: { claim: 'c' } };
    const bodies = [
      instanceBody({ ...input, offering: offering('spot') }),
      instanceBody({ ...input, offering: offering('on-demand') }),
      ...[{ provisioningModel: 'Spot' }, { preemptible: true }, { publicIP: true }].map(gcpMachine),
    ];
    try {
      expect(await judge('gcp', url, bodies)).toEqual({ types: ['e2-standard-2', 'n2-standard-4'], bodies: 5 });
    } finally {
      await close();
    }
  });

  it('Microsoft accept the VM and the interface of an AzureMachine', async () => {
    const server = new ArmServer({ clock, operationMs: 100 });
    const { url, close } = await server.listen();
    const interfaceID = '/subscriptions/s/resourceGroups/Nodes/providers/Microsoft.Network/networkInterfaces/nic-1';
    const order = machineOrder(
      'AzureMachine',
      {
        ...{
          vmSize: 'Standard_D2s_v5',
          image: { id: '/i' },
          sshPublicKey: Buffer.from('ssh-rsa A').toString('base64'),
        },
        spotVMOptions: { evictionPolicy: 'Delete' },
      },
      {
        ...{ subscriptionID: 's', resourceGroup: 'Nodes', location: 'eastus' },
        networkSpec: { vnet: { name: 'net' }, subnets: [{ name: 'nodes', role: 'node' }] },
      },
    );
    try {
      const bodies = { vm: azureVmBody(order, 'vm-1', interfaceID), interface: azureInterfaceBody(order) };
      expect(await judge('azure', url, bodies)).toMatchObject({ sizes: expect.anything() });
    } finally {
      await close();
    }
  });

  it('Microsoft accept the Resource Manager server, and our VMs', async () => {
    const server = new ArmServer({ clock, operationMs: 100 });
    const { url, close } = await server.listen();
    const spec = { imageID: '/i', vnetSubnetID: '/subscriptions/s/n', sshPublicKey: 'ssh-rsa A', userData: 'true' };
    const interfaceID = '/subscriptions/s/resourceGroups/Nodes/providers/Microsoft.Network/networkInterfaces/nic-1';
    const offering: RankedOffering = {
      instanceType: 'Standard_D2s_v5',
      zone: 'eastus-1',
      capacityType: 'spot',
      price: 1,
    };
    const vm = vmBody({ name: 'vm-1', location: 'eastus', spec, offering, interfaceID, tags: { a: 'b' } });
    try {
      expect(await judge('azure', url, { vm, interface: interfaceBody('eastus', spec, { a: 'b' }) })).toEqual({
        sizes: ['Standard_D2s_v5', 'Standard_D4s_v5'],
      });
    } finally {
      await close();
    }
  });
});
