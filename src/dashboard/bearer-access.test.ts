import { beforeEach, describe, expect, it } from 'vitest';
import type { KubeClient } from '../kube/client.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { BearerAccess } from './bearer-access.ts';

describe('BearerAccess', () => {
  let clock: VirtualClock;
  let access: BearerAccess;
  let asked: { kind: string; spec: Record<string, unknown> }[];
  let allowed: boolean;

  beforeEach(() => {
    clock = new VirtualClock();
    asked = [];
    allowed = true;
    const create = async (_: unknown, object: { kind: string; spec: Record<string, unknown> }) => {
      asked.push(object);
      if (object.kind === 'SubjectAccessReview') return { ...object, status: { allowed } };
      const user = { username: 'prometheus', groups: ['monitoring'] };
      return { ...object, status: object.spec.token === 'known' ? { authenticated: true, user } : {} };
    };
    access = new BearerAccess({ client: { create } as unknown as KubeClient, clock });
  });

  it('lets in a user whom the API server knows and who may get the path', async () => {
    expect(await access.decide('Bearer known', '/metrics')).toBe('allowed');
    expect(asked[1]?.spec).toEqual({
      ...{ user: 'prometheus', groups: ['monitoring'] },
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
    });
  });

  it('keeps out a user who may not get the path', async () => {
    allowed = false;
    expect(await access.decide('Bearer known', '/debug/profile')).toBe('forbidden');
  });

  it.each([undefined, '', 'Basic a2V5', 'Bearer', 'Bearer other'])('does not know %s', async (header) => {
    expect(await access.decide(header, '/metrics')).toBe('unknown');
    expect(asked.filter(({ kind }) => kind === 'SubjectAccessReview')).toEqual([]);
  });

  it('asks once a minute, for each path', async () => {
    await access.decide('Bearer known', '/metrics');
    await access.decide('Bearer known', '/metrics');
    expect(asked).toHaveLength(2);
    await access.decide('Bearer known', '/debug/profile');
    expect(asked).toHaveLength(4);
    allowed = false;
    await clock.advance(60_000);
    expect(await access.decide('Bearer known', '/metrics')).toBe('forbidden');
  });

  it('remembers no failure of the API server', async () => {
    const failing = { create: () => Promise.reject(new Error('away')) } as unknown as KubeClient;
    await expect(new BearerAccess({ client: failing, clock }).decide('Bearer known', '/metrics')).rejects.toThrow(
      'away',
    );
  });
});
