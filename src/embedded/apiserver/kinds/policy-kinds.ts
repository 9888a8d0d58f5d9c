/** `policy/v1`, `scheduling.k8s.io/v1`, `coordination.k8s.io/v1` and `rbac.authorization.k8s.io/v1`. */
import { builtIn } from './built-in.ts';
import type { Kind } from './kind.ts';

export const POLICY_KINDS: readonly Kind[] = [
  builtIn('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', 'namespaced', {
    shortNames: ['pdb'],
    status: true,
    generation: true,
  }),
  builtIn('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'clusterrolebindings', 'cluster', {
    rules: { name: 'path' },
  }),
  builtIn('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles', 'cluster', { rules: { name: 'path' } }),
  builtIn('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings', 'namespaced', { rules: { name: 'path' } }),
  builtIn('rbac.authorization.k8s.io/v1', 'Role', 'roles', 'namespaced', { rules: { name: 'path' } }),
  builtIn('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses', 'cluster', {
    shortNames: ['pc'],
    generation: true,
  }),
  builtIn('coordination.k8s.io/v1', 'Lease', 'leases', 'namespaced', {}),
];
