/** Detects that the kubelet shuts down: with graceful node shutdown it writes that on its Node. */
import type { Node } from '../apis/kubernetes/node.ts';
import type { Informer } from '../kube/informer.ts';
import type { Clock, EpochMs } from '../platform/clock.ts';
import type { NodeWarning, WarningSource } from './node-warning.ts';

export interface KubeletSourceOptions {
  readonly clock: Clock;
  /** Only the agent's own node. */
  readonly nodes: Pick<Informer<Node>, 'addHandler'>;
  readonly noticeMs: number;
}

export class KubeletSource implements WarningSource {
  readonly name = 'kubelet';
  readonly #options: KubeletSourceOptions;

  constructor(options: KubeletSourceOptions) {
    this.#options = options;
  }

  async run(report: (warnings: readonly NodeWarning[]) => void, signal: AbortSignal): Promise<void> {
    const { clock, nodes, noticeMs } = this.#options;
    let told = false;
    const look = (node: Node): void => {
      const isComing = isShuttingDown(node);
      if (isComing === told) return;
      told = isComing;
      const at = clock.now();
      const deadline = (at + noticeMs) as EpochMs;
      report(
        isComing
          ? [{ kind: 'stopping', at, deadline, detail: 'The kubelet reports that its node is shutting down' }]
          : [],
      );
    };
    const stop = nodes.addHandler({ added: look, updated: look });
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    stop();
  }
}

/** Whether the kubelet reports that its node is shutting down. */
export function isShuttingDown({ status }: Node): boolean {
  return (status?.conditions ?? []).some(
    ({ type, status: value, message }) => type === 'Ready' && value === 'False' && message === 'node is shutting down',
  );
}
