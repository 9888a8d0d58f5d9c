/** The room that CapacityBuffers reserve on a node. */
import type { CapacityBuffer } from '../../apis/autoscaling/capacity-buffer.ts';
import { placeOf } from '../../state/headroom.ts';
import { readHeadroomNote } from '../../state/headroom-note.ts';
import type { StateNode } from '../../state/state-node.ts';
import { dollars } from '../money.ts';

/** The room of one buffer on the node. */
export interface NodeHeadroom {
  /** `namespace/name`. */
  readonly buffer: string;
  readonly pods: number;
  /** USD an hour. */
  readonly price: number;
}

/** Reads the annotations of the buffers for this node. */
export function nodeHeadroom(state: StateNode, buffers: readonly CapacityBuffer[]): NodeHeadroom[] {
  const place = placeOf(state);
  return buffers.flatMap((buffer) => {
    const { namespace, name } = buffer.metadata;
    return readHeadroomNote(buffer)
      .filter((room) => room.place === place)
      .map(({ pods, price }) => ({ buffer: `${namespace}/${name}`, pods, price }));
  });
}

/** The same as a sentence. */
export function nodeHeadroomText({ buffer, pods, price }: NodeHeadroom): string {
  return `CapacityBuffer ${buffer} reserves room for ${pods} ${pods === 1 ? 'pod' : 'pods'} on it, worth ${dollars(price)} an hour.`;
}
