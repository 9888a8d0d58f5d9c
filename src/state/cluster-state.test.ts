import { describe, expect, it } from 'vitest';
import type { Pod, PodSpec, PodStatus } from '../apis/kubernetes/pod.ts';
import type { ClusterInformers } from './cluster-informers.ts';
import { ClusterState } from './cluster-state.ts';

function aPod(name: string, status: PodStatus = {}, spec: Partial<PodSpec> = {}): Pod {
  const metadata = { name, namespace: 'default' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [], ...spec }, status };
}

function refused(name: string, reason = 'Unschedulable', spec: Partial<PodSpec> = {}): Pod {
  return aPod(name, { conditions: [{ type: 'PodScheduled', status: 'False', reason }] as never }, spec);
}

function provisionable(...pods: Pod[]): string[] {
  const silent = { addHandler: () => {} };
  const informers = {
    pods: { ...silent, list: () => pods },
    ...{ nodeClaims: silent, nodes: silent, daemonSets: silent, limitRanges: silent },
    ...{ deployments: silent, leaderWorkerSets: silent, playgrounds: silent },
  };
  const state = new ClusterState(informers as unknown as ClusterInformers);
  return state.provisionable().map(({ metadata }) => metadata.name ?? '');
}

describe('pods to find a place for', () => {
  it('are those that the scheduler has none for, and then also those it has not looked at yet', () => {
    expect(provisionable(aPod('new'))).toEqual([]);
    expect(provisionable(aPod('new'), refused('refused'))).toEqual(['new', 'refused']);
  });

  it('are not those that another scheduler has not looked at yet', () => {
    const other = aPod('other', {}, { schedulerName: 'another' });
    expect(provisionable(other, refused('refused'))).toEqual(['refused']);
  });

  it('are not those for which the scheduler may send away pods that are less important', () => {
    const important = aPod('important', {}, { priority: 1000 });
    expect(provisionable(important, refused('refused'))).toEqual(['refused']);
    expect(provisionable(important, refused('refused', 'Unschedulable', { priority: 1000 }))).toEqual([
      'important',
      'refused',
    ]);
  });

  it('are not those that wait for something else', () => {
    const gated = aPod('gated', {}, { schedulingGates: [{ name: 'gate' }] });
    const nominated = aPod('nominated', { nominatedNodeName: 'node' });
    const placed = aPod('placed', {}, { nodeName: 'node' });
    expect(provisionable(gated, nominated, placed, refused('gated too', 'SchedulingGated'))).toEqual([]);
    expect(provisionable(gated, nominated, placed, refused('refused'))).toEqual(['refused']);
  });
});
