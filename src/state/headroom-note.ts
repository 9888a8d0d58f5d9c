/** Writes where the room of a CapacityBuffer is on the buffer itself, for commands that read the cluster. */
import type { CapacityBuffer } from '../apis/autoscaling/capacity-buffer.ts';
import { ANNOTATION_HEADROOM } from '../apis/spindrift/annotations.ts';

/** Room on one node. */
export interface NotedRoom {
  /** `nodeclaim/NAME`, or the name of a node without a claim. */
  readonly place: string;
  /** Enough for this many pods of the buffer. */
  readonly pods: number;
  /** Its share of the node's price, in USD an hour. */
  readonly price: number;
}

/** One word per node: `PLACE#PODS@PRICE`. */
export function writeHeadroomNote(rooms: readonly NotedRoom[]): string {
  return rooms
    .toSorted((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ place, pods, price }) => `${place}#${pods}@${price.toFixed(6)}`)
    .join(' ');
}

/** Reads it back. Unreadable words are skipped, as someone may have edited them. */
export function readHeadroomNote({ metadata }: Pick<CapacityBuffer, 'metadata'>): NotedRoom[] {
  return (metadata.annotations?.[ANNOTATION_HEADROOM] ?? '').split(' ').flatMap((word) => {
    const [, place = '', pods = '', price = ''] = /^(.+)#(\d+)@([\d.]+)$/.exec(word) ?? [];
    return place === '' ? [] : [{ place, pods: Number(pods), price: Number(price) }];
  });
}
