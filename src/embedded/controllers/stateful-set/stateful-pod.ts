/** The pods and claims of a StatefulSet. Pure. */
import type { Pod, Volume } from '../../../apis/kubernetes/pod.ts';
import type { PersistentVolumeClaim } from '../../../apis/kubernetes/volumes.ts';
import type { PodTemplateSpec, StatefulSet } from '../../../apis/kubernetes/workloads.ts';
import { podFromTemplate } from '../owned-pod.ts';
import { REVISION_LABEL } from '../revisions.ts';

/** The ordinal in a pod's name; undefined if the name does not belong to the set. */
export function ordinalOf(set: StatefulSet, pod: Pod): number | undefined {
  const prefix = `${set.metadata.name}-`;
  const rest = pod.metadata.name?.startsWith(prefix) ? pod.metadata.name.slice(prefix.length) : '';
  return /^\d+$/.test(rest) ? Number(rest) : undefined;
}

/** The pod with an ordinal, built from the template of a revision. */
export function statefulPod(set: StatefulSet, template: PodTemplateSpec, ordinal: number, revisionName: string): Pod {
  const name = `${set.metadata.name}-${ordinal}`;
  const pod = podFromTemplate(set, template, {
    name,
    labels: {
      'apps.kubernetes.io/pod-index': String(ordinal),
      [REVISION_LABEL]: revisionName,
      'statefulset.kubernetes.io/pod-name': name,
    },
  });
  const claimed = statefulClaims(set, ordinal).map(
    (claim, index): Volume => ({
      name: set.spec.volumeClaimTemplates?.[index]?.metadata.name ?? '',
      persistentVolumeClaim: { claimName: claim.metadata.name ?? '' },
    }),
  );
  const own = (pod.spec.volumes ?? []).filter(({ name: volume }) => !claimed.some((other) => other.name === volume));
  const volumes = [...claimed, ...own];
  const network = { hostname: name, ...(set.spec.serviceName && { subdomain: set.spec.serviceName }) };
  return { ...pod, spec: { ...pod.spec, ...network, ...(volumes.length > 0 && { volumes }) } };
}

/** The claims of the pod with an ordinal; they outlive the pod. */
export function statefulClaims(set: StatefulSet, ordinal: number): PersistentVolumeClaim[] {
  const { namespace, name } = set.metadata;
  return (set.spec.volumeClaimTemplates ?? []).map((template) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: `${template.metadata.name}-${name}-${ordinal}`,
      ...(namespace !== undefined && { namespace }),
      labels: { ...template.metadata.labels, ...set.spec.selector.matchLabels },
      ...(template.metadata.annotations && { annotations: template.metadata.annotations }),
    },
    spec: template.spec,
  }));
}
