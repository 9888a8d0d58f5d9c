/** A load that falls far: some nodes stay and are filled up, closed to others meanwhile, in virtual time. */
import { describe, expect, it } from 'vitest';
import { LABEL_ZONE } from '../../../src/apis/karpenter/labels.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS, type Deployment } from '../../../src/apis/kubernetes/workloads.ts';
import { aDeployment, aTemplate } from '../../../src/embedded/testkit/workloads.ts';
import { aPool } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const APPS = { web: '500m', api: '900m', worker: '250m', database: '1900m' } as const;

/** Pods of an app, spread over zones. */
function spread(app: string, replicas: number, cpu: string): Deployment {
  const labelSelector = { matchLabels: { app } };
  const constraint = {
    topologyKey: LABEL_ZONE,
    maxSkew: 1,
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector,
  } as const;
  const containers = [{ name: 'main', image: 'app', resources: { requests: { cpu } } }];
  const template = aTemplate(app, 'app', { containers, topologySpreadConstraints: [constraint] });
  return aDeployment(app, { replicas, template });
}

interface Seen {
  /** Nodes that were open once and were closed again. */
  readonly closedAgain: Set<string>;
  readonly open: Set<string>;
}

async function look(world: FleetWorld, { closedAgain, open }: Seen): Promise<void> {
  for (const { metadata, spec } of (await world.client.list(NODES)).items) {
    const { name = '', annotations = {} } = metadata;
    if (spec?.unschedulable !== true) open.add(name);
    else if (open.has(name) && annotations['spindrift.dev/opening'] !== undefined) closedAgain.add(name);
  }
}

/** 240 pods of which 48 are left; looks at the nodes every second until `until`. */
async function fallen(until: (seen: Seen, seconds: number) => boolean) {
  const world = await FleetWorld.start({ slowHeartbeats: true });
  const disruption = { consolidateAfter: '15s', budgets: [{ nodes: '100%' }] };
  await world.client.create(NODE_POOLS, aPool('general', { disruption }));
  for (const [app, cpu] of Object.entries(APPS)) await world.client.create(DEPLOYMENTS, spread(app, 60, cpu));
  await world.clock.advance(5 * MINUTE);
  for (const name of Object.keys(APPS)) {
    const body = { spec: { replicas: 12 } };
    await world.client.patch(DEPLOYMENTS, { name, namespace: 'default' }, { type: 'merge', body });
  }
  const seen: Seen = { closedAgain: new Set(), open: new Set() };
  for (let seconds = 0; !until(seen, seconds); seconds++) {
    await world.clock.advance(SECOND);
    await look(world, seen);
  }
  return { world, seen };
}

async function expectAllOpenAndRunning(world: FleetWorld): Promise<void> {
  const nodes = (await world.client.list(NODES)).items;
  expect(nodes.filter(({ spec }) => spec?.unschedulable === true)).toEqual([]);
  const pods = (await world.client.list(PODS)).items.filter(({ status }) => status?.phase === 'Running');
  expect(pods).toHaveLength(48);
}

describe('nodes that are filled up when the load falls', () => {
  it('are closed while the pods come, and open afterwards', async () => {
    const { world, seen } = await fallen((_, seconds) => seconds === 240);
    expect(seen.closedAgain.size).toBeGreaterThan(0);
    await expectAllOpenAndRunning(world);
    await world.end();
  });

  it('are opened by a process that starts anew in the middle of it', async () => {
    const { world } = await fallen(({ closedAgain }, seconds) => closedAgain.size > 0 || seconds === 240);
    await world.killControllers();
    world.startControllers();
    await world.clock.advance(5 * MINUTE);
    await expectAllOpenAndRunning(world);
    await world.end();
  });
});
