import type { Node } from '../../../apis/kubernetes/node.ts';
import { keyOf, keyText } from '../../../apis/kubernetes/object.ts';
import { DAEMON_SETS } from '../../../apis/kubernetes/workloads.ts';
import type { ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import type { ControllerOptions } from '../controller-options.ts';
import { Expectations } from '../expectations.ts';
import { PodControl } from '../owned-pod.ts';
import { ReconcileLoop } from '../reconcile-loop.ts';
import { decideRevisions, REVISION_LABEL, writeRevisions } from '../revisions.ts';
import { writeStatus } from '../status-change.ts';
import { daemonPod } from './daemon-pods.ts';
import { decideDaemonSet } from './decide-daemon-set.ts';

/** Keeps one pod of each DaemonSet on every node that should run it. */
export class DaemonSetController {
  readonly #options: ControllerOptions;
  readonly #expectations: Expectations;
  readonly #pods: PodControl;
  readonly #loop: ReconcileLoop;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#expectations = new Expectations(options.clock);
    this.#pods = new PodControl(options, this.#expectations);
    const { informers } = options;
    this.#loop = new ReconcileLoop(options, {
      name: 'daemonset',
      listen: (queue) => {
        const all = (): void => {
          for (const daemonSet of informers.daemonSets.list()) queue.add(keyText(keyOf(daemonSet)));
        };
        return [
          enqueueOn(informers.daemonSets, queue),
          this.#pods.listen('DaemonSet', (key) => queue.add(key)),
          informers.nodes.addHandler({
            added: all,
            updated: (node, old) => {
              if (placement(node) !== placement(old)) all();
            },
            deleted: all,
          }),
        ];
      },
      reconcile: (key) => this.#reconcile(key),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  async #reconcile(key: string): Promise<ReconcileResult | undefined> {
    const { client, clock, informers } = this.#options;
    const daemonSet = informers.daemonSets.get(key);
    if (daemonSet === undefined) {
      this.#expectations.forget(key);
      return undefined;
    }
    const uid = daemonSet.metadata.uid ?? '';
    const pods = informers.pods.byIndex('controller', uid);
    const inUse = new Set(
      pods.map(({ metadata }) => `${daemonSet.metadata.name}-${metadata.labels?.[REVISION_LABEL] ?? ''}`),
    );
    const revisions = decideRevisions(daemonSet, informers.revisions.byIndex('controller', uid), inUse, REVISION_LABEL);
    if (daemonSet.metadata.deletionTimestamp === undefined) await writeRevisions(client, revisions);
    const hash = revisions.update.metadata.labels?.[REVISION_LABEL] ?? '';
    const plan = decideDaemonSet(daemonSet, informers.nodes.list(), pods, hash, clock.now());
    if (this.#expectations.satisfied(key)) {
      for (const pod of plan.delete) await this.#pods.delete(daemonSet, pod);
      for (const node of plan.create) await this.#pods.create(daemonSet, daemonPod(daemonSet, node, hash));
    }
    await writeStatus(client, DAEMON_SETS, daemonSet, plan.status);
    return plan.againAfterMs === undefined ? undefined : { requeueAfterMs: plan.againAfterMs };
  }
}

/** The parts of a node that decide whether a daemon pod belongs on it. */
function placement({ metadata, spec }: Node): string {
  return JSON.stringify([metadata.labels, spec?.taints]);
}
