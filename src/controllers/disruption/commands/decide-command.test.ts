import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { toTimestamp } from '../../../platform/clock.ts';
import { aCondition, aNodeClaim, later, T0 } from '../../testkit/objects.ts';
import { type CommandFacts, decideCommand } from './decide-command.ts';
import type { Mark } from './mark.ts';

const MINUTE = 60_000;
const mark: Mark = { id: 'c', reason: 'Drifted', at: T0, needs: [{ pool: 'general', name: 'new' }] };
const up = aNodeClaim({ name: 'new', status: { conditions: [aCondition('Initialized')] } });
const deleted = { deletionTimestamp: toTimestamp(T0) };

function decide(facts: Partial<CommandFacts>, others: readonly NodeClaim[] = []) {
  return decideCommand({
    mark,
    claims: [aNodeClaim({ name: 'old' })],
    claimNamed: (name) => others.find(({ metadata }) => metadata.name === name),
    isUsed: () => true,
    recovery: () => undefined,
    now: later(MINUTE),
    limitMs: 10 * MINUTE,
    ...facts,
  });
}

describe('a command under way', () => {
  it('deletes what goes only when all that it needs is up', () => {
    expect(decide({}, [aNodeClaim({ name: 'new' })])).toMatchObject({ kind: 'wait', forMs: 9 * MINUTE });
    expect(decide({}, [up])).toEqual({ kind: 'delete' });
  });

  it('is undone when what it needs is gone, goes, or takes too long, and says whose fault it was', () => {
    const failed = { kind: 'undo', failed: ['general'] };
    expect(decide({})).toMatchObject(failed);
    expect(decide({}, [aNodeClaim({ name: 'new', metadata: deleted })])).toMatchObject(failed);
    const interrupted = { annotations: { 'spindrift.dev/interruption': 'spot-interruption' } };
    expect(decide({}, [aNodeClaim({ name: 'new', metadata: interrupted })])).toMatchObject(failed);
    const late = decide({ now: later(10 * MINUTE) }, [aNodeClaim({ name: 'new' })]);
    expect(late).toMatchObject({ ...failed, why: expect.stringContaining('10 minutes') });
  });

  it('is over when all of its claims are deleted, and goes on with the others when someone deleted one', () => {
    expect(decide({ claims: [aNodeClaim({ metadata: deleted })] })).toEqual({ kind: 'over' });
    const claims = [aNodeClaim({ name: 'gone', metadata: deleted }), aNodeClaim({ name: 'old' })];
    expect(decide({ claims }, [aNodeClaim({ name: 'new' })])).toMatchObject({ kind: 'wait' });
    expect(decide({ claims }, [up])).toEqual({ kind: 'delete' });
  });

  it('leaves a sick node alone that need not be repaired any more, while it waits and when it would delete it', () => {
    const repair = { ...mark, reason: 'Unhealthy' } as const;
    const recovery = () => 'it is healthy again';
    const undone = { kind: 'undo', why: 'it is healthy again', failed: [] };
    expect(decide({ mark: repair, recovery }, [aNodeClaim({ name: 'new' })])).toEqual(undone);
    expect(decide({ mark: repair, recovery }, [up])).toEqual(undone);
    expect(decide({ mark: repair }, [up])).toEqual({ kind: 'delete' });
    expect(decide({ recovery }, [up])).toEqual({ kind: 'delete' });
  });

  it('leaves a node that was empty alone when pods have come to it', () => {
    const empty = { ...mark, reason: 'Empty', needs: [] } as const;
    expect(decide({ mark: empty, isUsed: () => false })).toEqual({ kind: 'delete' });
    expect(decide({ mark: empty })).toMatchObject({ kind: 'undo', failed: [] });
  });
});
