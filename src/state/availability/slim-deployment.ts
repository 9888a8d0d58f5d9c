import type { Deployment } from '../../apis/kubernetes/workloads.ts';
import { SPINDRIFT_GROUP } from '../../apis/spindrift/group.ts';

/** The fields of a Deployment that are cached: clusters have many Deployments, and few keep replicas ready. */
export function slimDeployment({ apiVersion, kind, metadata, spec }: Deployment): Deployment {
  const { name, namespace, uid, resourceVersion, generation } = metadata;
  const ours = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith(`${SPINDRIFT_GROUP}/`));
  const { replicas, selector } = spec;
  return {
    ...{ apiVersion, kind },
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(generation !== undefined && { generation }),
      ...(ours.length > 0 && { annotations: Object.fromEntries(ours) }),
    },
    spec: { ...(replicas !== undefined && { replicas }), selector, template: { spec: { containers: [] } } },
  };
}
