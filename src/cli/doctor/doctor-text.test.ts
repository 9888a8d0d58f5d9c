import { describe, expect, it } from 'vitest';
import { aNodePool } from '../../apis/karpenter/testkit/a-node-pool.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { decideLeader } from './check-leader.ts';
import { decideNodePools } from './check-node-pools.ts';
import { doctorText } from './doctor-text.ts';
import { exitCodeOf, type Finding } from './finding.ts';

const OK: Finding = { check: 'cluster', status: 'ok', text: 'all is well' };
const WARNING: Finding = { check: 'signals', status: 'warning', text: 'no source', todo: 'name a queue' };
const FAILED: Finding = { check: 'permissions', status: 'failed', text: 'this user may not', todo: 'bind a role' };

describe('what doctor prints', () => {
  it('is a line for each finding, with what to do', () => {
    expect(
      doctorText([OK, FAILED, WARNING, { check: 'leader', status: 'skipped', text: 'not allowed' }]),
    ).toBe(`ok    cluster      all is well
FAIL  permissions  this user may not
                   to do: bind a role
WARN  signals      no source
                   to do: name a queue
skip  leader       not allowed

1 failed, 1 warning. 1 skipped.
`);
    expect(doctorText([OK])).toContain('Nothing is wrong.');
  });
});

describe('the exit code', () => {
  it('is 2 for failures, and with --strict for warnings', () => {
    expect(exitCodeOf([OK, WARNING], false)).toBe(0);
    expect(exitCodeOf([OK, WARNING], true)).toBe(2);
    expect(exitCodeOf([OK, FAILED], false)).toBe(2);
  });
});

describe('decideLeader', () => {
  const now = parseTimestamp('2030-01-01T00:01:00Z') as EpochMs;
  const lease = (renewTime: string, holderIdentity: string | null = 'a') => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {},
    spec: { holderIdentity, renewTime, leaseDurationSeconds: 15 },
  });

  it('is content with a Lease that was renewed lately', () => {
    expect(decideLeader(lease('2030-01-01T00:00:50Z'), now, 'n/l')).toMatchObject({ status: 'ok', text: 'a leads' });
  });

  it('warns when nobody leads, or no longer', () => {
    expect(decideLeader(undefined, now, 'n/l')).toMatchObject({
      status: 'warning',
      text: 'no replica holds Lease n/l',
    });
    expect(decideLeader(lease('2030-01-01T00:00:50Z', null), now, 'n/l')).toMatchObject({ status: 'warning' });
    expect(decideLeader(lease('2030-01-01T00:00:00Z'), now, 'n/l')).toMatchObject({
      status: 'warning',
      text: 'a holds Lease n/l and has not renewed it for 60 s',
    });
  });
});

describe('decideNodePools', () => {
  const pool = aNodePool();
  const { group, kind } = pool.spec.template.spec.nodeClassRef;
  const served = new Set([`${group}/${kind}`]);
  const said = (status: 'True' | 'False', message = '') => ({
    ...pool,
    status: {
      nodes: 0,
      conditions: [{ type: 'Ready', status, reason: 'R', message, lastTransitionTime: '2030-01-01T00:00:00Z' }],
    },
  });

  it('is content with pools that are ready', () => {
    expect(decideNodePools([said('True')], served)).toMatchObject([
      { status: 'ok', text: '1 of 1 NodePools are ready' },
    ]);
  });

  it('fails with the words of the condition', () => {
    expect(decideNodePools([said('False', 'no subnets')], served)).toMatchObject([
      { status: 'failed', text: expect.stringContaining('is not ready: no subnets') },
    ]);
    expect(decideNodePools([pool], served)).toMatchObject([{ status: 'failed', todo: 'start the controller' }]);
  });

  it('warns of pools of other clouds, and when there is none', () => {
    expect(decideNodePools([said('True')], new Set())).toMatchObject([{ status: 'warning' }, { status: 'warning' }]);
    expect(decideNodePools([], served)).toMatchObject([
      { status: 'warning', text: expect.stringContaining('no NodePool') },
    ]);
  });
});
