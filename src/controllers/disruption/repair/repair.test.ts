import { describe, expect, it } from 'vitest';
import type { RepairPolicy } from '../../../cloud/repair-policy.ts';
import type { RecordedEvent } from '../../../kube/event-recorder.ts';
import { VirtualClock } from '../../../platform/virtual-clock.ts';
import { BackOff } from '../back-off.ts';
import { type GroupedNodesOptions, groupedNodes } from '../testkit/grouped-nodes.ts';
import { Repair } from './repair.ts';

/** Whatever is ready is sick. */
const SICK: RepairPolicy = {
  ...{ conditionType: 'Ready', conditionStatus: 'True', tolerationMs: 0, priority: 1 },
  action: 'RebootNode',
};
/** Enough healthy nodes for two sick ones. */
const HEALTHY = ['r', 's', 't', 'u', 'v', 'w', 'x', 'y'];

/** The nodes that are rebooted when these are sick, and what is said; no reboot of those in `refusing` can be requested. */
async function rebooted(sick: string, options: GroupedNodesOptions, refusing = '') {
  const { look, said } = groupedNodes({ ...options, others: [...HEALTHY, ...sick.split(' ')] });
  const requested: string[] = [];
  const events: RecordedEvent[] = [];
  const repair = new Repair({
    policiesOf: ({ metadata }) => (sick.split(' ').includes(metadata.name ?? '') ? [SICK] : []),
    metrics: { eligible: () => {} } as never,
    recorder: { record: (event: RecordedEvent) => void events.push(event) } as never,
    backOff: new BackOff(new VirtualClock()),
    solve: () => Promise.reject(new Error('nothing is replaced')),
    policies: { for: () => ({}) as never },
    reboots: {
      can: () => true,
      request: async ({ metadata }) => {
        if (refusing.split(' ').includes(metadata.name ?? '')) throw new Error('a webhook denied the request');
        requested.push(metadata.name ?? '');
      },
    },
  });
  expect(await repair.plan(look, new AbortController().signal)).toEqual([]);
  return { requested, said, events };
}

const ONE = { budgets: { general: [{ nodes: '1' }] } };

describe('nodes that are to be rebooted', () => {
  it('are rebooted as far as budgets let them go', async () => {
    const { requested, said } = await rebooted('a b', { groups: {}, ...ONE });
    expect(requested).toEqual(['a']);
    expect(said.join()).toContain('general:');
  });

  it('are rebooted together where they run pods of one group, which then starts anew once', async () => {
    const { requested, events } = await rebooted('a b', { groups: { big: ['a', 'b'] }, ...ONE });
    expect(requested).toEqual(['a', 'b']);
    expect(events.map(({ reason }) => reason)).toEqual(['GroupExceedsBudget']);
  });

  it('take no node of their group along that is not sick', async () => {
    const { requested } = await rebooted('a', { groups: { big: ['a', 'r'] } });
    expect(requested).toEqual(['a']);
  });

  it('are told where a reboot cannot be requested, which keeps no other node from its reboot', async () => {
    const { requested, said } = await rebooted('a b', { groups: {} }, 'a');
    expect(requested).toEqual(['b']);
    expect(said).toEqual(['a: it is unhealthy, but its reboot cannot be requested: a webhook denied the request']);
  });
});
