import { expect, it } from 'vitest';
import type { CapacityBuffer } from '../../apis/autoscaling/capacity-buffer.ts';
import { aStateNode } from '../../state/testkit/a-state-node.ts';
import { nodeHeadroom, nodeHeadroomText } from './node-headroom.ts';

it('says which buffers have room on a node, and what that costs', () => {
  const buffer = (name: string, note: string) =>
    ({
      metadata: { namespace: 'shop', name, annotations: { 'spindrift.dev/headroom': note } },
    }) as unknown as CapacityBuffer;
  const buffers = [
    buffer('web', 'nodeclaim/a#2@0.012000 nodeclaim/b#1@0.010000'),
    buffer('db', 'nodeclaim/b#4@0.400000'),
  ];
  const found = nodeHeadroom(aStateNode({ name: 'a' }), buffers);
  expect(found).toEqual([{ buffer: 'shop/web', pods: 2, price: 0.012 }]);
  expect(found.map(nodeHeadroomText)).toEqual([
    'CapacityBuffer shop/web reserves room for 2 pods on it, worth $0.0120 an hour.',
  ]);
});
