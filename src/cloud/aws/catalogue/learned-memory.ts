/**
 * Real memory of nodes. The hypervisor keeps a share that no API returns. Once a node has registered, its memory counts for later nodes of
 * the same shape and images; the lowest value is kept.
 */

import { LABEL_INSTANCE_TYPE } from '../../../apis/karpenter/labels.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import { wholeValue } from '../../../apis/kubernetes/quantity.ts';

export class LearnedMemory {
  /** Increases when something new was learned. */
  version = 0;
  readonly #bytes = new Map<string, number>();

  get(imageSet: string, shape: string): number | undefined {
    return this.#bytes.get(`${imageSet}/${shape}`);
  }

  /** Learns from a registered node that runs one of the images of the set. */
  learn(imageSet: string, { metadata, status }: Node): void {
    const shape = metadata.labels?.[LABEL_INSTANCE_TYPE];
    const written = status?.capacity?.memory;
    if (shape === undefined || written === undefined) return;
    const key = `${imageSet}/${shape}`;
    const bytes = Number(wholeValue(written));
    if (bytes <= 0 || bytes >= (this.#bytes.get(key) ?? Number.POSITIVE_INFINITY)) return;
    this.#bytes.set(key, bytes);
    this.version++;
  }
}
