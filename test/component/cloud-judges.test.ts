/** The clouds' own SDKs drive our local servers and accept their answers, and our request bodies; skipped where they are not installed. */
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { interfaceBody, vmBody } from '../../src/cloud/azure/vm-body.ts';
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
    ];
    try {
      expect(await judge('gcp', url, bodies)).toEqual({ types: ['e2-standard-2', 'n2-standard-4'], bodies: 2 });
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
