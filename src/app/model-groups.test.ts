/** Groups of LeaderWorkerSets whose nodes must be replaced, on the embedded cluster with the whole autoscaler, in virtual time. */
import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS } from '../apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../apis/karpenter/node-pool.ts';
import { EVENTS } from '../apis/kubernetes/event.ts';
import { PODS } from '../apis/kubernetes/pod.ts';
import { setUpGroup } from './testkit/group-cluster.ts';

const MINUTE = 60_000;

describe('the nodes of a group', () => {
  it.each([
    ['1', 'LeaderReady'],
    ['3', 'LeaderReady'],
    ['1', 'LeaderCreated'],
  ] as const)(
    'are replaced together when they have drifted, and it starts anew once: budget of %s, %s (8)',
    async (nodes, startup) => {
      const { client, step, starts, end } = await setUpGroup(3, startup);
      await step(5 * MINUTE);
      const first = (await client.list(NODE_CLAIMS)).items.map(({ metadata }) => metadata.name);
      expect(first).toHaveLength(3);
      expect(starts()).toBe(1);

      const disruption = { budgets: [{ nodes }], consolidateAfter: '1h' };
      const body = { spec: { disruption, template: { metadata: { labels: { generation: 'two' } } } } };
      await client.patch(NODE_POOLS, { name: 'inference' }, { type: 'merge', body });
      const going: number[] = [];
      let most = 0;
      for (let second = 0; second < 900; second++) {
        await step(1000);
        const claims = (await client.list(NODE_CLAIMS)).items;
        most = Math.max(most, claims.length);
        going.push(claims.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length);
      }
      // All of them are told to go in the same moment, and no more than one replacement each was ever made.
      expect(going.find((count) => count > 0)).toBe(3);
      expect(most).toBe(6);
      const left = (await client.list(NODE_CLAIMS)).items;
      expect(left).toHaveLength(3);
      expect(left.filter(({ metadata }) => first.includes(metadata.name))).toEqual([]);
      expect(starts()).toBe(2);
      const pods = (await client.list(PODS)).items;
      expect(pods.map(({ metadata }) => metadata.name).sort()).toEqual(['big-0', 'big-0-1', 'big-0-2']);
      const said = (await client.list(EVENTS)).items.filter(({ reason }) => reason === 'GroupExceedsBudget');
      expect(said).toHaveLength(nodes === '1' ? 1 : 0);
      await end();
    },
  );
});
