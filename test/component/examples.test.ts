/** The examples are taken by a cluster that has our definitions, and a plan for each is what its first lines promise. */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { DEFINITIONS } from '../../src/apis/custom-resource-definitions.ts';
import type { Resource } from '../../src/apis/kubernetes/object.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/apis/schema/custom-resource-definition.ts';
import { main } from '../../src/cli/main.ts';
import type { PlanReport } from '../../src/cli/plan/plan-report.ts';
import { readManifests } from '../../src/cli/plan/read-manifests.ts';
import { EmbeddedCluster } from '../../src/embedded/cluster.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { VirtualClock } from '../../src/platform/virtual-clock.ts';

const folder = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'examples');
const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));

/** How many nodes of each pool and capacity type a plan has. */
async function planned(...given: string[]): Promise<{ report: PlanReport; nodes: Record<string, number> }> {
  let printed = '';
  const terminal = { out: (text: string) => (printed += text), err: (text: string) => (printed += text) };
  const files = given.flatMap((file) => ['-f', join(folder, file)]);
  const code = await main(['plan', ...files, '-o', 'json'], terminal);
  expect(code === 1 ? printed : '').toBe('');
  const report = JSON.parse(printed) as PlanReport;
  expect(code).toBe(report.withoutPlace.length === 0 ? 0 : 2);
  const nodes: Record<string, number> = {};
  for (const { pool, capacityType } of report.nodes) {
    nodes[`${pool} ${capacityType}`] = (nodes[`${pool} ${capacityType}`] ?? 0) + 1;
  }
  return { report, nodes };
}

describe('the examples', () => {
  let cluster: EmbeddedCluster;
  beforeAll(async () => {
    cluster = new EmbeddedCluster({ clock: new VirtualClock(), random: seededRandom('examples') });
    for (const definition of DEFINITIONS) await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  });

  it('are all tried here', () => {
    expect(files).toEqual([
      'capacity-buffer.yaml',
      'gpu.yaml',
      'reserved-only.yaml',
      'reserved-then-on-demand.yaml',
      'reserved-then-spot-then-on-demand.yaml',
      'savings-plan.yaml',
      'spot-policy.yaml',
      'spot-with-fallback.yaml',
      'static-pool.yaml',
    ]);
  });

  it.each(files)('%s is taken by a cluster, every field of it', async (file) => {
    const { manifests, problems } = await readManifests([join(folder, file)]);
    expect(problems).toEqual([]);
    for (const { object } of manifests) {
      const kind = cluster.server.world.kinds.byName(object.apiVersion, object.kind) as Resource;
      const metadata = kind.namespaced ? { ...object.metadata, namespace: 'default' } : object.metadata;
      const options = { fieldManager: 'examples', fieldValidation: 'Strict' as const };
      await cluster.client.patch(
        kind,
        { name: metadata.name ?? '', ...(kind.namespaced ? { namespace: 'default' } : {}) },
        { type: 'apply', body: { ...object, metadata } },
        options,
      );
    }
  });

  it('spot-with-fallback.yaml buys spot', async () => {
    const { report, nodes } = await planned('spot-with-fallback.yaml');
    expect(Object.keys(nodes)).toEqual(['spot-with-fallback spot']);
    expect(report.podsPlaced).toBe(20);
    expect(Math.max(...report.nodes.map(({ alternatives }) => alternatives))).toBeGreaterThan(10);
  });

  it('spot-policy.yaml buys the first two nodes and a tenth of the others on demand, and spreads the rest', async () => {
    const { report, nodes } = await planned('spot-policy.yaml');
    const total = report.nodes.length;
    expect(nodes).toEqual({
      'careful on-demand': 2 + Math.ceil((total - 2) / 10),
      'careful spot': total - 2 - Math.ceil((total - 2) / 10),
    });
    const spotPools = Map.groupBy(
      report.nodes.filter(({ capacityType }) => capacityType === 'spot'),
      ({ instanceType, zone }) => `${instanceType}/${zone}`,
    );
    expect(Math.max(...[...spotPools.values()].map((there) => there.length))).toBeLessThanOrEqual(total / 4);
    expect(report.podsPlaced).toBe(20);
    expect(report.notes.join()).toContain('SpotPolicies change the offering of');
  });

  it('static-pool.yaml launches nothing for pods, and says what it keeps', async () => {
    const { report } = await planned('static-pool.yaml');
    expect(report.nodes).toEqual([]);
    expect(report.notes.join()).toMatch(/NodePool base keeps 4 nodes, whatever pods there are: .*, \$\d+\.\d+ an hour/);
  });

  it('capacity-buffer.yaml is planned as the pods that it has room for', async () => {
    const { report } = await planned('capacity-buffer.yaml');
    expect(report.podsPlaced).toBe(5);
    expect(report.notes.join()).toContain('CapacityBuffer default/spare is planned as 5 pods');
  });

  it('savings-plan.yaml makes on-demand machines 28 % cheaper', async () => {
    const { report } = await planned('static-pool.yaml');
    const { report: discounted } = await planned('static-pool.yaml', 'savings-plan.yaml');
    const price = ({ notes }: PlanReport) => Number(/\$(\d+\.\d+) an hour on top/.exec(notes.join())?.[1]);
    expect(price(discounted)).toBeCloseTo(price(report) * 0.72, 3);
  });

  it('reserved-only.yaml fills the reservation and leaves the rest waiting', async () => {
    const { report, nodes } = await planned('reserved-only.yaml');
    expect(nodes).toEqual({ 'reserved-only reserved': 6 });
    expect(report.price.perHour).toBe(0);
    expect(report.withoutPlace.map(({ pods }) => pods.length)).toEqual([2]);
  });

  it('reserved-then-on-demand.yaml fills the reservation and buys the rest', async () => {
    const { report, nodes } = await planned('reserved-then-on-demand.yaml');
    expect(nodes['reserved-then-on-demand reserved']).toBe(3);
    expect(Object.keys(nodes).toSorted()).toEqual([
      'reserved-then-on-demand on-demand',
      'reserved-then-on-demand reserved',
    ]);
    expect(report.podsPlaced).toBe(8);
  });

  it('reserved-then-spot-then-on-demand.yaml fills the reservation and buys spot for the rest', async () => {
    const { report, nodes } = await planned('reserved-then-spot-then-on-demand.yaml');
    expect(nodes['reserved reserved']).toBe(2);
    expect(Object.keys(nodes).toSorted()).toEqual(['reserved reserved', 'rest spot']);
    expect(report.podsPlaced).toBe(10);
  });

  it('are the same in a cluster that has the pools of all of them', async () => {
    const together = await planned(...files);
    // What has no pool of its own is planned with any.
    for (const file of files.filter((each) => each !== 'capacity-buffer.yaml')) {
      const { nodes } = await planned(file);
      expect(together.nodes).toMatchObject(nodes);
    }
  });

  it('gpu.yaml keeps the pools apart', async () => {
    const { report } = await planned('gpu.yaml');
    for (const { pool, pods } of report.nodes) {
      expect(new Set(pods.map((pod) => pod.replace(/-\d+$/, '')))).toEqual(
        new Set([pool === 'gpu' ? 'default/train' : 'default/no-gpu']),
      );
    }
    expect(report.podsPlaced).toBe(7);
  });
});
