import { ANNOTATION_DO_NOT_DISRUPT } from '../../apis/karpenter/labels.ts';
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { doNotDisruptProblem } from '../../state/do-not-disrupt.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import { invalidDoNotDisrupt } from './events.ts';

/** Records an event on pods with an invalid `do-not-disrupt` annotation, which protects them from nothing. */
export class PodValidation {
  readonly name = 'pod.validation';
  readonly #options: ControllersOptions;
  readonly #controller: InformedController;

  constructor(options: ControllersOptions) {
    this.#options = options;
    this.#controller = new InformedController(options, {
      name: this.name,
      concurrency: 1,
      listen: (queue) => {
        const check = (pod: Pod): void => {
          if (doNotDisruptProblem(pod) !== undefined) queue.add(keyText(keyOf(pod)));
        };
        // Only when the annotation changes: pods change often.
        const updated = (pod: Pod, old: Pod): void => {
          if (said(pod) !== said(old)) check(pod);
        };
        return [options.state.informers.pods.addHandler({ added: check, updated })];
      },
      reconcile: async (key) => this.#reconcile(key),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  #reconcile(key: string): undefined {
    const { state, recorder } = this.#options;
    const pod = state.informers.pods.get(key);
    const problem = pod && doNotDisruptProblem(pod);
    if (pod !== undefined && problem !== undefined) recorder.record(invalidDoNotDisrupt(pod, problem));
  }
}

function said({ metadata }: Pod): string | undefined {
  return metadata.annotations?.[ANNOTATION_DO_NOT_DISRUPT];
}
