import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../platform/clock.ts';
import { AZURE } from '../azure/module.ts';
import type { CloudModule, OfflineOptions } from '../cloud-module.ts';
import { GCP } from '../gcp/module.ts';
import type { NodeClass } from '../node-class-kind.ts';

const NODE_CLASS = { apiVersion: 'any/v1', kind: 'Any', metadata: { name: 'default' }, spec: {} } as NodeClass;

async function sold(cloud: CloudModule, options: Partial<OfflineOptions> = {}) {
  const loaded = await cloud.load({});
  const market = loaded.offline?.({ now: 0 as EpochMs, nodeClasses: [NODE_CLASS], ...options });
  return market?.instanceTypes('default');
}

/** The zones and prices of a type. */
async function offersOf(cloud: CloudModule, name: string, options?: Partial<OfflineOptions>) {
  const types = await sold(cloud, options);
  if (types === undefined || 'problem' in types) throw new Error(types?.problem ?? 'no offline market');
  const offerings = types.find((type) => type.name === name)?.offerings ?? [];
  return offerings.map(({ zone, capacityType, price }) => `${zone} ${capacityType} ${price}`);
}

describe('a plan for Compute Engine or Azure without a call', () => {
  it('has the types of the built-in table in every zone of the region, on spot and on demand', async () => {
    expect(await offersOf(GCP, 'e2-standard-2', { region: 'us-east1' })).toHaveLength(6);
    expect((await offersOf(GCP, 'e2-standard-2', { region: 'us-east1' }))[0]).toMatch(/^us-east1-b on-demand /);
    expect((await offersOf(AZURE, 'Standard_D2s_v5', { region: 'westeurope' }))[0]).toMatch(/^westeurope-1 on-demand /);
  });

  it('is for the region of the nodes that run already, else for the cheapest one', async () => {
    const node = (labels: Record<string, string>) =>
      ({ apiVersion: 'v1', kind: 'Node', metadata: { labels } }) as const;
    const region = 'topology.kubernetes.io/region';
    const foreign = node({ [region]: 'europe-west2' });
    const own = node({ [region]: 'europe-west3', 'karpenter.k8s.gcp/gcenodeclass': 'default' });
    expect((await offersOf(GCP, 'e2-standard-2', { nodes: [foreign, own] }))[0]).toMatch(/^europe-west3-a /);
    expect((await offersOf(GCP, 'e2-standard-2', { nodes: [foreign] }))[0]).toMatch(/^us-central1-a /);
  });

  it('leaves out machine types that do not support the boot disk of the node class', async () => {
    const spec = { disks: [{ boot: true, category: 'pd-standard' }] };
    const options = { nodeClasses: [{ ...NODE_CLASS, spec }] };
    expect(await offersOf(GCP, 'n4-standard-2', options)).toEqual([]);
    expect(await offersOf(GCP, 'e2-standard-2', options)).not.toEqual([]);
  });

  it('is refused for a region without prices, with the one that was probably meant', async () => {
    expect(await sold(AZURE, { region: 'westeurop' })).toMatchObject({
      problem: expect.stringMatching(/^the built-in table does not have region westeurop: it has eastus, .*westeurope/),
    });
  });
});
