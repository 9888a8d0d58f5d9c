/** Who leads, over time, as the Lease says: how long nobody did. */
import { LEASES } from '../../../src/apis/kubernetes/lease.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import type { Clock } from '../../../src/platform/clock.ts';

export interface Handover {
  readonly from: string;
  readonly to: string;
  /** From the last sign of the old leader, or from its farewell, to the first of the new one. */
  readonly gapMs: number;
}

const LOOK_MS = 50;

export class LeaseWatch {
  readonly handovers: Handover[] = [];
  #holder = '';
  #seenAt = 0;

  get holder(): string {
    return this.#holder;
  }

  /** Runs until the signal aborts. */
  async run(
    client: KubeClient,
    clock: Clock,
    key: { namespace: string; name: string },
    signal: AbortSignal,
  ): Promise<void> {
    let renewed = '';
    while (!signal.aborted) {
      const lease = await client.get(LEASES, key).catch(() => undefined);
      const now = clock.elapsed();
      const holder = lease?.spec?.holderIdentity ?? '';
      const renewTime = String(lease?.spec?.renewTime ?? '');
      if (holder !== '' && holder !== this.#holder) {
        if (this.#holder !== '') this.handovers.push({ from: this.#holder, to: holder, gapMs: now - this.#seenAt });
        this.#holder = holder;
        this.#seenAt = now;
      } else if (holder !== '' && renewTime !== renewed) this.#seenAt = now;
      renewed = renewTime;
      await clock.sleep(LOOK_MS, signal).catch(() => {});
    }
  }
}
