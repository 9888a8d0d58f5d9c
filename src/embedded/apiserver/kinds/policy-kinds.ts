/** `policy/v1`, `scheduling.k8s.io/v1`, `coordination.k8s.io/v1` and `rbac.authorization.k8s.io/v1`. */

import { builtIn } from './built-in.ts';
import { CREATED_AT } from './columns/core-columns.ts';
import {
  BUDGET_COLUMNS,
  LEASE_COLUMNS,
  PRIORITY_CLASS_COLUMNS,
  ROLE_BINDING_COLUMNS,
} from './columns/policy-columns.ts';
import type { Kind } from './kind.ts';
import { budgetRules, priorityClassRules } from './rules/stored-rules.ts';

export const POLICY_KINDS: readonly Kind[] = [
  builtIn('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', 'namespaced', {
    shortNames: ['pdb'],
    columns: BUDGET_COLUMNS,
    rules: budgetRules,
    status: true,
    generation: true,
  }),
  builtIn('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'clusterrolebindings', 'cluster', {
    columns: ROLE_BINDING_COLUMNS,
    rules: { name: 'path' },
  }),
  builtIn('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles', 'cluster', {
    columns: CREATED_AT,
    rules: { name: 'path' },
  }),
  builtIn('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings', 'namespaced', {
    columns: ROLE_BINDING_COLUMNS,
    rules: { name: 'path' },
  }),
  builtIn('rbac.authorization.k8s.io/v1', 'Role', 'roles', 'namespaced', {
    columns: CREATED_AT,
    rules: { name: 'path' },
  }),
  builtIn('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses', 'cluster', {
    shortNames: ['pc'],
    columns: PRIORITY_CLASS_COLUMNS,
    rules: priorityClassRules,
    generation: true,
  }),
  builtIn('coordination.k8s.io/v1', 'Lease', 'leases', 'namespaced', { columns: LEASE_COLUMNS }),
];
