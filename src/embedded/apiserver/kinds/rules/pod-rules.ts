import type { Pod } from '../../../../apis/kubernetes/pod.ts';
import type { Draft, KindRules } from '../kind.ts';
import { limitPod } from './limit-ranger.ts';
import { podAdmission } from './pod-admission.ts';
import { podSpecDefaults } from './pod-defaults.ts';
import { qosClass } from './pod-qos.ts';
import { validatePod } from './pod-validation.ts';

export const podRules: KindRules = {
  defaults: (object) => (object.spec === undefined ? object : { ...object, spec: podSpecDefaults(object.spec) }),
  prepareCreate: (object, context) => {
    const admitted = podAdmission(limitPod(object, context), context);
    return { ...admitted, status: { phase: 'Pending', qosClass: qosClass(admitted as unknown as Pod) } };
  },
  validate: validatePod,
  gracePeriodSeconds: (object: Draft, asked) => {
    const { spec, status } = object as unknown as Pod;
    // Nothing is running, so there is nothing to wait for.
    if ((spec.nodeName ?? '') === '' || status?.phase === 'Succeeded' || status?.phase === 'Failed') return 0;
    return asked ?? spec.terminationGracePeriodSeconds ?? 0;
  },
};
