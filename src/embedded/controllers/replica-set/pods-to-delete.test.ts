import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import { aPod } from '../../testkit/objects.ts';
import { podsToDelete } from './pods-to-delete.ts';

const pod = (
  name: string,
  options: {
    node?: string;
    ready?: string;
    phase?: 'Pending' | 'Running';
    cost?: string;
    restarts?: number;
    created?: string;
  } = {},
): Pod => {
  const {
    node = 'n',
    ready = '2030-01-01T00:00:00Z',
    phase = 'Running',
    cost,
    restarts = 0,
    created = '2030-01-01T00:00:00Z',
  } = options;
  const base = aPod(name, {
    spec: { nodeName: node },
    ...(cost !== undefined && { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
  });
  return {
    ...base,
    metadata: { ...base.metadata, uid: name, creationTimestamp: created },
    status: {
      phase,
      containerStatuses: [{ restartCount: restarts }],
      conditions: ready === '' ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: ready }],
    },
  };
};
const order = (...pods: Pod[]): string[] => podsToDelete(pods, pods.length - 1).map(({ metadata }) => metadata.name!);

describe('the pod that goes first', () => {
  it.each<[string, Pod, Pod]>([
    ['has no node yet', pod('goes', { node: '' }), pod('stays')],
    ['is still pending', pod('goes', { phase: 'Pending' }), pod('stays')],
    ['is not ready', pod('goes', { ready: '' }), pod('stays')],
    ['costs less', pod('goes', { cost: '-5' }), pod('stays')],
    ['has been ready for a shorter time', pod('goes', { ready: '2030-01-01T00:01:00Z' }), pod('stays')],
    ['was restarted more often', pod('goes', { restarts: 3 }), pod('stays', { restarts: 1 })],
    ['is younger', pod('goes', { created: '2030-01-01T00:01:00Z' }), pod('stays')],
  ])('%s', (_, goes, stays) => {
    expect(order(stays, goes)).toEqual(['goes']);
  });

  it('is on the node that has the most of them', () => {
    expect(order(pod('a', { node: 'x' }), pod('b', { node: 'y' }), pod('c', { node: 'y' }))[0]).toMatch(/^[bc]$/);
  });
});
