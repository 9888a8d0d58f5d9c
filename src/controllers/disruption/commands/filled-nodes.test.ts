import { describe, expect, it } from 'vitest';
import type { Node } from '../../../apis/kubernetes/node.ts';
import { SILENT_LOGGER } from '../../../platform/logger.ts';
import { FilledNodes, type FilledNodesOptions } from './filled-nodes.ts';

const FILL = { claim: 'claim-1', node: 'node-1', pods: [] };

function aNode(spec: object = {}, annotations: Record<string, string> = {}): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', annotations }, spec } as Node;
}

function world(node: Node | undefined, patch: () => Promise<unknown> = () => Promise.resolve(node)) {
  const patches: unknown[] = [];
  const awaited = new Set<string>();
  const options = {
    logger: SILENT_LOGGER,
    state: { informers: { nodes: { get: () => node } } },
    writes: {
      newest: (one: unknown) => one,
      patch: (_: unknown, __: unknown, body: unknown) => {
        patches.push(body);
        return patch();
      },
    },
    successors: {
      expect: (claim: string) => awaited.add(claim),
      forget: (claim: string) => awaited.delete(claim),
      awaitedBy: (claim: string) => awaited.has(claim),
    },
  } as unknown as FilledNodesOptions;
  return { filled: new FilledNodes(options), patches, awaited };
}

const { signal } = new AbortController();

describe('nodes to be filled up', () => {
  it('are closed once, with their taints, and expect the pods', async () => {
    const { filled, patches, awaited } = world(aNode({ taints: [{ key: 'team', effect: 'NoSchedule' }] }));
    await filled.close([FILL], signal);
    await filled.close([FILL], signal);
    expect([...awaited]).toEqual(['claim-1']);
    expect(patches).toMatchObject([
      { spec: { unschedulable: true, taints: [{ key: 'team' }, { key: 'node.kubernetes.io/unschedulable' }] } },
    ]);
  });

  it.each([
    ['that somebody has cordoned', aNode({ unschedulable: true })],
    ['that are still opened for others', aNode({}, { 'spindrift.dev/opening': 'true' })],
    ['that are gone', undefined],
  ])('are left alone where they are ones %s', async (_, node) => {
    const { filled, patches, awaited } = world(node);
    await filled.close([FILL], signal);
    expect([patches, [...awaited]]).toEqual([[], []]);
  });

  it('are left to the scheduler where they cannot be closed', async () => {
    const { filled, awaited } = world(aNode(), () => Promise.reject(new Error('refused')));
    await filled.close([FILL], signal);
    expect([...awaited]).toEqual([]);
  });
});
