/**
 * Keeps room for pods that do not exist yet: warm spares of a model, and the workers of a group whose leader is not ready. Both are virtual
 * pods, which provisioning and disruption count like those of CapacityBuffers.
 */
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { LABEL_SET_NAME } from '../../apis/leader-worker-set/labels.ts';
import type { OpenModel } from '../../apis/llmaz/open-model.ts';
import type { ReconcileResult } from '../../kube/controller.ts';
import { hasEnded } from '../../state/has-ended.ts';
import type { Headroom } from '../../state/headroom.ts';
import { dependsOnModel, modelName } from '../../state/model-flavors.ts';
import type { Nominations } from '../../state/nominations.ts';
import { isLeader, workersToCome } from '../../state/virtual-workers.ts';
import { sparePod, warmSpares } from '../../state/warm-spares.ts';
import { groupSize } from '../../state/worker-group.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import { sparesInvalid } from './events.ts';

export interface ModelRoomOptions extends ControllersOptions {
  readonly headroom: Headroom;
  readonly nominations: Pick<Nominations, 'placeOf'>;
}

/** Many pods change at a time. */
const GATHER_MS = 200;
const LOOK_AGAIN_MS = 1000;
const ALL = 'all';

export class ModelRoom {
  readonly name = 'model.room';
  readonly #options: ModelRoomOptions;
  readonly #controller: InformedController;
  /** Virtual pods by key, then by content: an unchanged pod stays the same object. */
  readonly #made = new Map<string, Map<string, Pod>>();

  constructor(options: ModelRoomOptions) {
    this.#options = options;
    const { openModels, leaderWorkerSets, pods } = options.state.informers;
    this.#controller = new InformedController(options, {
      name: this.name,
      concurrency: 1,
      listen: (queue) => {
        const look = (): void => queue.add(ALL, { afterMs: GATHER_MS });
        const lookFor = (pod: Pod): void => {
          if (dependsOnModel(pod) || pod.metadata.labels?.[LABEL_SET_NAME] !== undefined) look();
        };
        look();
        return [
          openModels.addHandler({ added: look, updated: look, deleted: look }),
          leaderWorkerSets.addHandler({ added: look, updated: look, deleted: look }),
          pods.addHandler({ added: lookFor, updated: lookFor, deleted: lookFor }),
        ];
      },
      reconcile: async () => this.#look(),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  #look(): ReconcileResult | undefined {
    const { headroom, state } = this.#options;
    const wanted = new Map<string, readonly Pod[]>();
    const pods = state.informers.pods.list().filter((pod) => !hasEnded(pod));
    for (const model of state.informers.openModels.list()) wanted.set(...this.#spares(model, pods));
    const leaders = pods.filter(
      (pod) => groupSize(pod) > 1 && isLeader(pod) && pod.metadata.deletionTimestamp === undefined,
    );
    for (const leader of leaders) wanted.set(...this.#workers(leader));
    for (const [key, made] of wanted) {
      if (made.length > 0) headroom.set(key, made);
      else this.#forget(key);
    }
    for (const key of [...this.#made.keys()]) if (!wanted.has(key)) this.#forget(key);
    // No object changes when a pod gets a place on a node that is on its way.
    return leaders.some(({ spec }) => !spec.nodeName) ? { requeueAfterMs: LOOK_AGAIN_MS } : undefined;
  }

  #spares(model: OpenModel, pods: readonly Pod[]): [string, readonly Pod[]] {
    const { name = '' } = model.metadata;
    const key = `OpenModel ${name}`;
    const own = pods.filter((pod) => modelName(pod) === name && pod.metadata.deletionTimestamp === undefined);
    const count = warmSpares(model, own.length);
    if (typeof count === 'object') {
      this.#options.recorder.record(sparesInvalid(model, count.problem));
      return [key, []];
    }
    const like = own.at(-1);
    if (like === undefined) return [key, []];
    return [key, Array.from({ length: count }, (_, index) => this.#keep(key, sparePod(model, like, index + 1)))];
  }

  /** Room for the workers of leaders that have a place; leaders without room for their whole group have none. */
  #workers(leader: Pod): [string, readonly Pod[]] {
    const key = `LeaderWorkerSet ${keyText(keyOf(leader))}`;
    const { nominations, state } = this.#options;
    const hasPlace = Boolean(leader.spec.nodeName) || nominations.placeOf(leader) !== undefined;
    const workers = hasPlace ? workersToCome(leader, state.informers) : [];
    return [key, workers.map((worker) => this.#keep(key, worker))];
  }

  /** The virtual pod that was made before, if it is equal: it keeps its place. */
  #keep(key: string, pod: Pod): Pod {
    const known = this.#made.get(key) ?? new Map<string, Pod>();
    this.#made.set(key, known);
    const id = JSON.stringify([pod.metadata.uid, pod.metadata.labels, pod.spec]);
    const before = known.get(id);
    if (before === undefined) known.set(id, pod);
    return before ?? pod;
  }

  #forget(key: string): void {
    this.#made.delete(key);
    this.#options.headroom.delete(key);
  }
}
