import { admissionregistrationV1 } from './tables/admissionregistration-v1.ts';
import { apiextensionsV1 } from './tables/apiextensions-v1.ts';
import { apiregistrationV1 } from './tables/apiregistration-v1.ts';
import { appsV1 } from './tables/apps-v1.ts';
import { authenticationV1 } from './tables/authentication-v1.ts';
import { authorizationV1 } from './tables/authorization-v1.ts';
import { autoscalingV1 } from './tables/autoscaling-v1.ts';
import { autoscalingV2 } from './tables/autoscaling-v2.ts';
import { batchV1 } from './tables/batch-v1.ts';
import { certificatesV1 } from './tables/certificates-v1.ts';
import { coordinationV1 } from './tables/coordination-v1.ts';
import { coreV1 } from './tables/core-v1.ts';
import { discoveryV1 } from './tables/discovery-v1.ts';
import { eventsV1 } from './tables/events-v1.ts';
import { metaV1 } from './tables/meta-v1.ts';
import { networkingV1 } from './tables/networking-v1.ts';
import { nodeV1 } from './tables/node-v1.ts';
import { policyV1 } from './tables/policy-v1.ts';
import { rbacV1 } from './tables/rbac-v1.ts';
import { resourceV1 } from './tables/resource-v1.ts';
import { schedulingV1 } from './tables/scheduling-v1.ts';
import { storageV1 } from './tables/storage-v1.ts';
import { parseTypes, type TypeFacts, type TypeTable } from './type-table.ts';

/** All tables. */
export const TABLES: readonly TypeTable[] = [
  admissionregistrationV1,
  apiextensionsV1,
  apiregistrationV1,
  appsV1,
  authenticationV1,
  authorizationV1,
  autoscalingV1,
  autoscalingV2,
  batchV1,
  certificatesV1,
  coordinationV1,
  coreV1,
  discoveryV1,
  eventsV1,
  metaV1,
  networkingV1,
  nodeV1,
  policyV1,
  rbacV1,
  resourceV1,
  schedulingV1,
  storageV1,
];

const tablesByName = new Map(TABLES.map((table) => [table.table, table]));
const parsed = new Map<string, ReadonlyMap<string, TypeFacts>>();

/** The types of a table by name, parsed on first use, since no process needs all of them. */
export function typesOf(table: TypeTable): ReadonlyMap<string, TypeFacts> {
  let types = parsed.get(table.table);
  if (types === undefined) {
    types = new Map(parseTypes(table).map((type) => [type.name, type]));
    parsed.set(table.table, types);
  }
  return types;
}

/** The type with an id such as `core-v1/PodSpec`. */
export function typeOf(id: string): TypeFacts | undefined {
  const [table = '', name = ''] = id.split('/');
  const found = tablesByName.get(table);
  return found === undefined ? undefined : typesOf(found).get(name);
}

/** The OpenAPI name of an id such as `core-v1/PodSpec`: `io.k8s.api.core.v1.PodSpec`. */
export function openApiName(id: string): string {
  const [table = '', name = ''] = id.split('/');
  return `${tablesByName.get(table)?.openApi}.${name}`;
}

/** Kinds that are sent to any group, under that group's apiVersion. */
const SHARED_KINDS = new Set(['DeleteOptions']);

/** The type of a kind by its names in the API: `kindType('apps/v1', 'Deployment')`. */
export function kindType(apiVersion: string, kind: string): TypeFacts | undefined {
  if (SHARED_KINDS.has(kind)) return typeOf(`meta-v1/${kind}`);
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const version = apiVersion.slice(slash + 1);
  const table = TABLES.find(
    (candidate) => candidate.group === group && candidate.version === version && candidate.table !== 'meta-v1',
  );
  const type = table === undefined ? undefined : typesOf(table).get(kind);
  return type?.kind === true ? type : undefined;
}
