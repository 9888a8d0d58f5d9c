import { afterAll, beforeAll, describe, expect } from 'vitest';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { CLOUD_MODULES } from '../../../src/app/cloud-modules.ts';
import { type InstalledChart, installChart } from '../../chart/installed-chart.ts';
import { refusals, unusedRights } from '../../chart/rights.ts';
import { findHelm } from '../../peers/helm.ts';
import { nodeadmComplaint } from '../judges/nodeadm-judge.ts';
import { AwsCluster } from './aws-cluster.ts';
import { fleetOf, untilFleet, untilRunning } from './fleet.ts';
import { deployment, nodeClass, nodePool } from './objects.ts';
import { SpindriftProcess } from './spindrift-process.ts';
import { story } from './story.ts';

/** Ten minutes were seen as well; the steps are the same. */
const OUTAGE_SECONDS = Number(process.env.SPINDRIFT_OUTAGE_SECONDS ?? 30);

describe.runIf(CLOUD_MODULES.some(({ name }) => name === 'aws'))(
  'Spindrift on AWS, from a pending pod to a machine that boots',
  () => {
    const cluster = new AwsCluster('mine');
    let chart: InstalledChart | undefined;
    // As the chart's service account, where Helm is there.
    const spindrift = new SpindriftProcess(cluster, { kubeconfig: () => chart?.kubeconfig });
    const tale = story();
    const { step } = tale;

    beforeAll(async () => {
      await cluster.start();
      await cluster.ground.reserve({
        instanceType: 'm5.large',
        zone: 'us-east-1b',
        count: 1,
        match: 'targeted',
        tags: { for: 'nodes' },
      });
      await cluster.kubectl.apply(
        nodeClass(cluster.name, { capacityReservationSelectorTerms: [{ tags: { for: 'nodes' } }] }),
        nodeClass(cluster.name, { amiSelectorTerms: [{ alias: 'bottlerocket@latest' }] }, 'bottlerocket'),
        nodePool({ name: 'reserved', capacityTypes: ['reserved'] }),
        nodePool({ name: 'spot', capacityTypes: ['spot'], nodeClass: 'bottlerocket' }),
        nodePool({
          name: 'on-demand',
          capacityTypes: ['on-demand'],
          labels: { team: 'blue' },
          taints: [{ key: 'mine', value: 'yes', effect: 'NoSchedule' }],
        }),
      );
      if (findHelm() !== undefined)
        chart = await installChart(cluster.run.controlPlane, 'clouds={aws}', 'settings.installDefinitions=true');
      await spindrift.start();
    });

    afterAll(async () => {
      await spindrift.stop();
      await cluster.stop(tale.passed);
    });

    for (const kind of ['reserved', 'spot', 'on-demand'] as const) {
      step(`launches ${kind} capacity that boots and runs pods`, async () => {
        const tolerations = [{ key: 'mine', operator: 'Exists' }];
        await cluster.kubectl.apply(deployment(kind, kind, 2, undefined, { tolerations }));
        await untilRunning(cluster, spindrift, kind, 2);
        const machines = (await cluster.ground.instances()).filter(({ capacityType }) => capacityType === kind);
        // One for both pods, or one for each, whichever is cheaper.
        expect([1, 2]).toContain(machines.length);
        for (const { privateDnsName } of machines) {
          const node = await cluster.client.get(NODES, { name: privateDnsName });
          expect(node.metadata.labels).toMatchObject({ 'karpenter.sh/capacity-type': kind, pool: kind });
          expect(Number(node.status?.capacity?.pods)).toBeLessThan(110);
          const leftover = (node.spec?.taints ?? []).filter(({ key }) => key === 'karpenter.sh/unregistered');
          expect(leftover).toEqual([]);
        }
      });
    }

    step('tells machines of AL2023 what the real nodeadm accepts', async () => {
      const machines = (await cluster.ground.instances()).filter(({ imageName }) => imageName.includes('al2023'));
      expect(machines.length).toBeGreaterThan(0);
      for (const { userData } of machines) expect(await nodeadmComplaint(userData ?? '')).toBeUndefined();
      expect([...cluster.room.failures]).toEqual([]);
    });

    step('replaces a spot machine that is interrupted', async () => {
      const [spot] = (await cluster.ground.instances()).filter(({ capacityType }) => capacityType === 'spot');
      await cluster.ground.interrupt({ id: spot!.id });
      await untilFleet(cluster, spindrift, ({ machines }) =>
        machines.some(({ id }) => id === spot!.id) ? `${spot!.id} is still there` : undefined,
      );
      await untilRunning(cluster, spindrift, 'spot', 2);
    });

    step('loses and doubles nothing while AWS cannot be reached', async () => {
      const before = await fleetOf(cluster);
      const { failures } = cluster.room;
      await cluster.ground.unplug();
      // Pods come and a deployment goes while no call gets through.
      await cluster.kubectl.apply(
        deployment(
          'late',
          'on-demand',
          3,
          { cpu: '1', memory: '512Mi' },
          { tolerations: [{ key: 'mine', operator: 'Exists' }] },
        ),
      );
      await cluster.kubectl.run(['delete', 'deployment', 'spot', '--namespace=default']);
      await cluster.clock.sleep(OUTAGE_SECONDS * 1000);
      const during = await fleetOf(cluster);
      expect(during.machines.map(({ id }) => id).sort()).toEqual(before.machines.map(({ id }) => id).sort());
      const kept = during.claims.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      expect(kept.map(({ metadata }) => metadata.uid)).toEqual(
        expect.arrayContaining(
          before.claims
            .filter(({ metadata }) => metadata.labels?.['karpenter.sh/nodepool'] !== 'spot')
            .map(({ metadata }) => metadata.uid),
        ),
      );
      await cluster.ground.plug();
      await untilRunning(cluster, spindrift, 'late', 3, 180_000);
      const after = await untilFleet(cluster, spindrift, ({ machines, claims }) =>
        machines.length === claims.length ? undefined : `${machines.length} machines, ${claims.length} claims`,
      );
      const uids = after.machines.map(({ tags }) => tags['spindrift.dev/nodeclaim-uid']);
      expect(new Set(uids).size).toBe(uids.length);
      expect(uids.sort()).toEqual(after.claims.map(({ metadata }) => metadata.uid).sort());
      expect([...failures]).toEqual([]);
    });

    step('leaves nothing behind when the pods have gone', async () => {
      for (const pool of ['reserved', 'spot', 'on-demand']) {
        const patch = { spec: { disruption: { consolidateAfter: '0s' } } };
        await cluster.kubectl.run(['patch', 'nodepool', pool, '--type=merge', `--patch=${JSON.stringify(patch)}`]);
      }
      await cluster.kubectl.run(['delete', 'deployment', '--all', '--namespace=default']);
      const fleet = await untilFleet(cluster, spindrift, ({ machines, claims }) =>
        machines.length + claims.length === 0 ? undefined : `${machines.length} machines, ${claims.length} claims`,
      );
      expect(fleet.nodes).toEqual([]);
      expect((await fleetOf(cluster)).machines).toEqual([]);
    });

    step('has used every right that the chart gives for AWS, and missed none', async () => {
      if (chart === undefined) return;
      const uses = chart.uses();
      expect(refusals(uses)).toEqual([]);
      expect(unusedRights(chart.cloudRights, uses)).toEqual([]);
    });
  },
);
