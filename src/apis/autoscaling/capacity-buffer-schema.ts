/** The schema of CapacityBuffer, autoscaling.x-k8s.io/v1beta1: the fields and rules of the definition that autoscalers share. */
import { conditions } from '../karpenter/condition-schema.ts';
import type { ResourceList } from '../kubernetes/pod.ts';
import { defaulted, integer, map, object, quantity, required, type Schema, text } from '../schema/schema.ts';

/** Nodes are launched for the buffer before pods need them. */
export const ACTIVE_CAPACITY = 'buffer.x-k8s.io/active-capacity';

const podTemplateRef = (description: string) =>
  object(description, { name: required(text('The name of the PodTemplate.', { minLength: 1 })) });

const scalableRef = object(
  'A Deployment, StatefulSet or ReplicaSet of the same namespace: the buffer has room for more of its pods.',
  {
    apiGroup: text('The API group of the object: apps.'),
    kind: required(text('Deployment, StatefulSet or ReplicaSet.', { minLength: 1 })),
    name: required(text('The name of the object.', { minLength: 1 })),
  },
);

export const CAPACITY_BUFFER_SPEC = object(
  'How much room is kept free, and for which pods.',
  {
    provisioningStrategy: defaulted(
      ACTIVE_CAPACITY,
      text(
        'How the room is kept. buffer.x-k8s.io/active-capacity launches nodes for it; buffers of any other strategy are left alone.',
      ),
    ),
    podTemplateRef: podTemplateRef(
      'A PodTemplate of the same namespace: the pod that the buffer has room for. Exactly one of podTemplateRef and scalableRef is given.',
    ),
    scalableRef,
    replicas: integer(
      'For how many pods there is room. Without replicas and percentage: for as many as limits allow. With both, the larger one counts.',
      { format: 'int32', minimum: 0 },
    ),
    percentage: integer(
      'For how many pods there is room, in percent of the replicas of scalableRef, rounded up to one at least.',
      { format: 'int32', minimum: 0 },
    ),
    limits: map(
      'The most that the pods of the buffer may ask for together, by resource.',
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

export const CAPACITY_BUFFER_STATUS = object('How much of the room there is.', {
  conditions: conditions('reason required'),
  podTemplateRef: podTemplateRef('The PodTemplate that was read.'),
  podTemplateGeneration: integer('Which generation of it was read.', { format: 'int64' }),
  provisioningStrategy: text('The strategy that is followed.'),
  replicas: integer('For how many pods there is to be room.', { format: 'int32' }),
});
