import { describe, expect, it } from 'vitest';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { Solution } from '../../engine/solution.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import type { BuiltProblem } from '../../state/build-problem.ts';
import { DEFAULT_SPOT_SETTINGS } from '../spot-policy/spot-settings.ts';
import { BackOff } from './back-off.ts';
import type { Candidate } from './candidate.ts';
import type { Look } from './look.ts';
import { replaceWithin } from './replace-within.ts';
import { groupedNodes } from './testkit/grouped-nodes.ts';

const REASON = { offerings: 0, funnel: [], nearest: undefined, nodes: 0, nodesRejectedBy: {} };

/** A group on four nodes, of which some are due; there are places for so many pods elsewhere. */
function aGroup(due: string, room: number) {
  const { look: base, judge, candidate, said } = groupedNodes({ groups: { big: ['a', 'b', 'c', 'd'] }, others: ['x'] });
  let id = 0;
  const look = Object.assign(base, {
    pools: async () => [],
    newId: () => `c${id++}`,
    snapshot: (_: unknown, leaving: readonly Candidate[]) => leaving.flatMap(({ pods }) => pods),
  }) as Look;
  const clock = new VirtualClock();
  const options = {
    backOff: new BackOff(clock),
    policies: { for: () => DEFAULT_SPOT_SETTINGS },
    recorder: { record: () => {} } as unknown as EventRecorder,
    solve: async (snapshot: unknown) => {
      const pods = snapshot as readonly Pod[];
      const built = { pods, held: [], cloudName: (name: string) => name } as unknown as BuiltProblem;
      const unplaced = pods.slice(room).map((_, index) => ({ group: 0, pods: [room + index], reason: REASON }));
      return { built, solution: { unplaced, newNodes: [], existing: [] } as unknown as Solution, gaps: [] };
    },
  };
  /** The commands of a look: the nodes of each. */
  const plan = async (reason: 'Drifted' | 'Unhealthy'): Promise<string[]> => {
    const candidates = due.split(' ').map(candidate);
    const wanted = { candidates, reason, closed: [], ...(reason === 'Drifted' && { companion: judge }) };
    const commands = await replaceWithin(wanted, look, options, new AbortController().signal);
    return commands.map((command) => command.candidates.map(({ state }) => state.name).join(' '));
  };
  return { plan, clock, said };
}

describe('nodes of a group that must be replaced', () => {
  it('take those along that need not go yet, in one command, and others go for themselves', async () => {
    expect(await aGroup('b x', 9).plan('Drifted')).toEqual(['b a c d', 'x']);
  });

  it('go without these where there is no place for all, after a while', async () => {
    const { plan, clock, said } = aGroup('a b', 3);
    expect(await plan('Drifted')).toEqual([]);
    expect(said.join()).toContain('a: pod default/big-3 has no other place');
    expect(await plan('Drifted')).toEqual([]);
    await clock.advance(61_000);
    expect(await plan('Drifted')).toEqual(['a b']);
  });

  it('leave those alone that are healthy where they are repaired', async () => {
    expect(await aGroup('b d', 9).plan('Unhealthy')).toEqual(['b d']);
  });
});
