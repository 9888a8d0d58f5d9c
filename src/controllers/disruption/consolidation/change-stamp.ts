/** A number that grows with every change that consolidation depends on: cheap to compare. */
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { KubeObject } from '../../../apis/kubernetes/object.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { Informer } from '../../../kube/informer.ts';
import type { ClusterInformers } from '../../../state/cluster-informers.ts';
import { isReady } from '../../../state/is-ready.ts';

export class ChangeStamp {
  #value = 0;

  constructor(informers: ClusterInformers) {
    this.#follow(informers.pods, isSamePod);
    this.#follow(informers.nodes, isSameNode);
    const { nodeClaims, nodePools, disruptionBudgets, daemonSets, namespaces } = informers;
    const { limitRanges, spotPolicies, volumeClaims, volumes, storageClasses } = informers;
    for (const informer of [nodeClaims, nodePools, disruptionBudgets]) this.#follow<KubeObject>(informer, () => false);
    for (const informer of [daemonSets, namespaces, limitRanges, spotPolicies, volumeClaims, volumes, storageClasses]) {
      this.#follow<KubeObject>(informer, isSameSpec);
    }
    this.#follow<KubeObject>(informers.openModels, isSameSpec);
    this.#follow<KubeObject>(informers.nodeOverlays, isSameSpec);
    // Their status changes when their reserved room moves.
    this.#follow<KubeObject>(informers.capacityBuffers, () => false);
  }

  get value(): number {
    return this.#value;
  }

  #follow<T extends KubeObject>(informer: Pick<Informer<T>, 'addHandler'>, isSame: (a: T, b: T) => boolean): void {
    const changed = (): void => {
      this.#value++;
    };
    informer.addHandler({
      added: changed,
      deleted: changed,
      updated: (object, old) => {
        if (!isSame(object, old)) changed();
      },
    });
  }
}

/** Ignores the kubelet's repeated status updates. */
function isSamePod(a: Pod, b: Pod): boolean {
  return (
    a.spec.nodeName === b.spec.nodeName &&
    a.status?.phase === b.status?.phase &&
    a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
    readiness(a) === readiness(b) &&
    isAlike([a.metadata.labels, a.metadata.annotations, a.spec], [b.metadata.labels, b.metadata.annotations, b.spec])
  );
}

function readiness({ status }: Pod): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status;
}

/** Ignores heartbeats. */
function isSameNode(a: Node, b: Node): boolean {
  return (
    a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
    isReady(a) === isReady(b) &&
    isAlike(
      [a.metadata.labels, a.metadata.annotations, a.spec, a.status?.allocatable],
      [b.metadata.labels, b.metadata.annotations, b.spec, b.status?.allocatable],
    )
  );
}

function isSameSpec(a: KubeObject & { spec?: unknown }, b: KubeObject & { spec?: unknown }): boolean {
  return isAlike([a.metadata.labels, a.spec], [b.metadata.labels, b.spec]);
}

function isAlike(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
