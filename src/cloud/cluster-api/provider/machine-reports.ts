/** Writes the status of infrastructure machines, and nothing where it has been written already. */
import { keyOf, type Resource } from '../../../apis/kubernetes/object.ts';
import type { KubeClient } from '../../../kube/client.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { InfrastructureObject } from '../infrastructure-objects.ts';
import type { MachineReport } from './machine-report.ts';

export interface MachineReportsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly kind: Resource<InfrastructureObject>;
}

/** The same report is written again after this long, in case that someone has changed it. */
const AGE_MS = 600_000;

export class MachineReports {
  readonly #options: MachineReportsOptions;
  /** The last report written, by the UID of the machine. Definitions drop fields that they do not know, so the object does not tell. */
  readonly #written = new Map<string, { readonly text: string; readonly at: number }>();

  constructor(options: MachineReportsOptions) {
    this.#options = options;
  }

  async write(machine: InfrastructureObject, report: MachineReport, signal: AbortSignal): Promise<void> {
    const { client, clock, kind } = this.#options;
    const { uid = '' } = machine.metadata;
    const text = JSON.stringify(report);
    const known = this.#written.get(uid);
    if (known?.text === text && clock.elapsed() - known.at < AGE_MS) return;
    const patch = { type: 'merge', body: { status: report } } as const;
    await client.patch(kind, keyOf(machine), patch, { signal, subresource: 'status' });
    this.#written.set(uid, { text, at: clock.elapsed() });
  }

  forget(uid: string): void {
    this.#written.delete(uid);
  }
}
