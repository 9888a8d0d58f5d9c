/** Fields that kube-apiserver's default admission plugins add to a new pod: priority, tolerations, service account. */
import type { KubeObject } from '../../../../apis/kubernetes/object.ts';
import type { Toleration } from '../../../../apis/kubernetes/pod.ts';
import { forbidden } from '../../status-errors.ts';
import type { Draft, Fields, WriteContext } from '../kind.ts';

interface PriorityClass extends KubeObject {
  readonly value?: number;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: string;
}

const POD = { group: '', kind: 'Pod', plural: 'pods' };
const GRACE_SECONDS = 300;
const NODE_TROUBLE = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/** The pod with the fields that admission adds; refused if its priority class does not exist. */
export function podAdmission(pod: Draft, context: WriteContext): Draft {
  const spec: Fields = pod.spec ?? {};
  return {
    ...pod,
    spec: {
      ...spec,
      ...priority(pod, spec, context),
      serviceAccountName: spec.serviceAccountName ?? 'default',
      serviceAccount: spec.serviceAccountName ?? 'default',
      enableServiceLinks: spec.enableServiceLinks ?? true,
      tolerations: withNodeTrouble((spec.tolerations as readonly Toleration[] | undefined) ?? []),
    },
  };
}

function priority(pod: Draft, spec: Fields, context: WriteContext): Fields {
  const name = spec.priorityClassName as string | undefined;
  if (name === undefined || name === '') {
    return { priority: spec.priority ?? 0, preemptionPolicy: spec.preemptionPolicy ?? 'PreemptLowerPriority' };
  }
  const found = context.lookUp('priorityclasses.scheduling.k8s.io', name) as PriorityClass | undefined;
  if (found === undefined) {
    throw forbidden(POD, pod.metadata.name ?? '', `no PriorityClass with name ${name} was found`);
  }
  return {
    priority: found.value ?? 0,
    preemptionPolicy: spec.preemptionPolicy ?? found.preemptionPolicy ?? 'PreemptLowerPriority',
  };
}

/** A pod tolerates a not-ready or unreachable node for five minutes, unless it has its own toleration. */
function withNodeTrouble(tolerations: readonly Toleration[]): readonly Toleration[] {
  const tolerates = (key: string): boolean =>
    tolerations.some(
      (toleration) =>
        ((toleration.key ?? '') === '' || toleration.key === key) &&
        ((toleration.effect ?? '') === '' || toleration.effect === 'NoExecute'),
    );
  const added = NODE_TROUBLE.filter((key) => !tolerates(key)).map(
    (key): Toleration => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: GRACE_SECONDS }),
  );
  return added.length === 0 ? tolerations : [...tolerations, ...added];
}
