import { describe, expect, it } from 'vitest';
import type { Rendered } from '../chart/rendered-chart.ts';
import { type Right, refusals, rightsOf, unusedRights } from '../chart/rights.ts';
import type { Use } from '../kubernetes/harness/audit-log.ts';

const account = { name: 'spindrift', namespace: 'autoscaling' };
const rule = { apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['get', 'list'] };
const objects = [
  { kind: 'ClusterRole', metadata: { name: 'all' }, rules: [rule] },
  { kind: 'ClusterRole', metadata: { name: 'other' }, rules: [rule] },
  {
    kind: 'ClusterRoleBinding',
    metadata: { name: 'all' },
    roleRef: { kind: 'ClusterRole', name: 'all' },
    subjects: [account],
  },
  {
    kind: 'Role',
    metadata: { name: 'lease', namespace: 'x' },
    rules: [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: ['mine'], verbs: ['update'] }],
  },
  {
    ...{ kind: 'RoleBinding', metadata: { name: 'lease', namespace: 'x' } },
    ...{ roleRef: { kind: 'Role', name: 'lease' }, subjects: [account] },
  },
] as unknown as Rendered[];

const use = (verb: string, resource: string, rest: Partial<Use> = {}): Use => ({
  ...{ verb, resource, group: '', namespace: '', name: '', code: 200, userAgent: '' },
  ...rest,
});

describe('the rights of a service account', () => {
  it('are those of the roles that it is bound to, one by one', () => {
    expect(
      rightsOf(objects, account).map(({ verb, resource, namespace }) => `${verb} ${resource} ${namespace}`),
    ).toEqual([...['get pods ', 'list pods ', 'get nodes ', 'list nodes ', 'update leases x']]);
    expect(rightsOf(objects, { ...account, name: 'another' })).toEqual([]);
  });

  it('are left over when no request was allowed by them', () => {
    const rights = rightsOf(objects, account);
    const uses = [
      use('get', 'pods'),
      use('list', 'pods', { code: 403 }),
      use('list', 'nodes'),
      use('get', 'nodes', { code: 404 }),
    ];
    expect(unusedRights(rights, uses)).toEqual(['list pods', 'update leases mine (coordination.k8s.io) in x']);
  });

  it('count for their own names and namespace only', () => {
    const right: Right = { group: '', resource: 'leases', verb: 'get', names: ['mine'], namespace: 'x' };
    expect(unusedRights([right], [use('get', 'leases', { namespace: 'x', name: 'other' })])).toHaveLength(1);
    expect(unusedRights([right], [use('get', 'leases', { namespace: 'y', name: 'mine' })])).toHaveLength(1);
    expect(unusedRights([right], [use('get', 'leases', { namespace: 'x', name: 'mine' })])).toEqual([]);
  });

  it('were missing where a request was refused', () => {
    const refused = use('create', 'pods/eviction', { namespace: 'a', code: 403 });
    expect(refusals([refused, refused, use('get', 'pods')])).toEqual(['create pods/eviction in a']);
    expect(() => refusals([])).toThrow('the account has made no request');
  });
});
