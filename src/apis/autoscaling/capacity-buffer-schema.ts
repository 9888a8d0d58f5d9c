/** The schema of CapacityBuffer, autoscaling.x-k8s.io/v1beta1: the fields and rules of the definition that autoscalers share. */
import { conditions } from '../karpenter/condition-schema.ts';
import type { ResourceList } from '../kubernetes/pod.ts';
import { defaulted, integer, map, object, quantity, required, type Schema, text } from '../schema/schema.ts';

/** The strategy that launches nodes for the buffer before pods need them. */
export const ACTIVE_CAPACITY = 'buffer.x-k8s.io/active-capacity';

const podTemplateRef = (description: string) =>
  object(description, { name: required(text('The name of the PodTemplate.', { minLength: 1 })) });

const scalableRef = object(
  'A Deployment, StatefulSet or ReplicaSet of the same namespace; the buffer reserves room for more of its pods.',
  {
    apiGroup: text('The API group of the object: apps.'),
    kind: required(text('Deployment, StatefulSet or ReplicaSet.', { minLength: 1 })),
    name: required(text('The name of the object.', { minLength: 1 })),
  },
);

export const CAPACITY_BUFFER_SPEC = object(
  'How much room is reserved, and for which pods.',
  {
    provisioningStrategy: defaulted(
      ACTIVE_CAPACITY,
      text(
        'How the room is reserved. buffer.x-k8s.io/active-capacity launches nodes for it; Spindrift ignores buffers of any other strategy.',
      ),
    ),
    podTemplateRef: podTemplateRef(
      'A PodTemplate of the same namespace: the pod to reserve room for. Set exactly one of podTemplateRef and scalableRef.',
    ),
    scalableRef,
    replicas: integer(
      'The number of pods to reserve room for. Without replicas and percentage, limits decide. With both, the larger one counts.',
      { format: 'int32', minimum: 0 },
    ),
    percentage: integer(
      'The number of pods to reserve room for, in percent of the replicas of scalableRef; at least one.',
      { format: 'int32', minimum: 0 },
    ),
    limits: map(
      'The most that the pods of the buffer can request together, by resource.',
      quantity(),
    ) as Schema<ResourceList>,
  },
  {
    rules: [
      {
        rule: '!has(self.podTemplateRef) || has(self.replicas) || has(self.limits)',
        message: 'with podTemplateRef, write how many pods there is room for: add replicas or limits',
      },
      {
        rule: '!(has(self.podTemplateRef) && has(self.scalableRef))',
        message: 'a buffer is for one kind of pod: remove podTemplateRef or scalableRef',
      },
    ],
  },
);

export const CAPACITY_BUFFER_STATUS = object('The reserved room as the autoscaler observed it.', {
  conditions: conditions('reason required'),
  podTemplateRef: podTemplateRef('The PodTemplate that was read.'),
  podTemplateGeneration: integer('The generation of the PodTemplate that was read.', { format: 'int64' }),
  provisioningStrategy: text('The strategy in use.'),
  replicas: integer('The number of pods to reserve room for.', { format: 'int32' }),
});
