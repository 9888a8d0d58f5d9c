/** Discovery: groups, versions and resources, in the aggregated and in the older form. */
import type { Kind } from '../kinds/kind.ts';
import type { KindRegistry } from '../kinds/kind-registry.ts';
import { noSuchPath } from '../status-errors.ts';

const STORED_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const PART_VERBS = ['get', 'patch', 'update'];

interface Part {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** The subresources of a kind. */
function partsOf(kind: Kind): Part[] {
  const { group, version } = kind;
  return [
    ...kind.subresources,
    ...(kind.scale === undefined
      ? []
      : [{ name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: PART_VERBS }]),
    ...(kind.hasStatus ? [{ name: 'status', group, version, kind: kind.kind, verbs: PART_VERBS }] : []),
  ];
}

function verbsOf(kind: Kind): readonly string[] {
  return kind.stored ? STORED_VERBS : ['create'];
}

/** Versions and their kinds by group, in discovery order; the versions of a group in order of preference. */
function groupsOf(kinds: KindRegistry): Map<string, Map<string, Kind[]>> {
  const groups = new Map<string, Map<string, Kind[]>>();
  for (const kind of kinds.all()) {
    const versions = groups.get(kind.group) ?? new Map<string, Kind[]>();
    groups.set(kind.group, versions);
    versions.set(kind.version, [...(versions.get(kind.version) ?? []), kind]);
  }
  return groups;
}

/** `GET /api` and `GET /apis` for clients that support aggregated discovery. */
export function aggregatedDiscovery(kinds: KindRegistry, prefix: 'api' | 'apis', version: 'v2' | 'v2beta1'): object {
  const groups = [...groupsOf(kinds)].filter(([group]) => (group === '') === (prefix === 'api'));
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(([group, versions]) => ({
      metadata: group === '' ? { creationTimestamp: null } : { name: group, creationTimestamp: null },
      versions: [...versions].map(([name, served]) => ({
        version: name,
        resources: served.map(discoveredResource),
        freshness: 'Current',
      })),
    })),
  };
}

function discoveredResource(kind: Kind): object {
  const parts = partsOf(kind);
  return {
    resource: kind.plural,
    responseKind: { group: kind.group, version: kind.version, kind: kind.kind },
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: verbsOf(kind),
    ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
    ...(kind.categories.length === 0 ? {} : { categories: kind.categories }),
    ...(parts.length === 0
      ? {}
      : {
          subresources: parts.map((part) => ({
            subresource: part.name,
            responseKind: { group: part.group, version: part.version, kind: part.kind },
            verbs: part.verbs,
          })),
        }),
  };
}

/** `GET /api`. */
export function legacyCoreVersions(serverAddress: string): object {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** `GET /apis`. */
export function legacyGroups(kinds: KindRegistry): object {
  const names = [...groupsOf(kinds).keys()].filter((group) => group !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: names.map((name) => groupBody(kinds, name)) };
}

/** `GET /apis/<group>`. */
export function legacyGroup(kinds: KindRegistry, group: string): object {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupBody(kinds, group) };
}

function groupBody(kinds: KindRegistry, group: string): object {
  const versions = [...(groupsOf(kinds).get(group)?.keys() ?? [])].map((version) => ({
    groupVersion: `${group}/${version}`,
    version,
  }));
  if (versions.length === 0) throw noSuchPath();
  return { name: group, versions, preferredVersion: versions[0] };
}

/** `GET /api/v1` and `GET /apis/<group>/<version>`. */
export function legacyResources(kinds: KindRegistry, group: string, version: string): object {
  const served = groupsOf(kinds).get(group)?.get(version);
  if (served === undefined) throw noSuchPath();
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: served.flatMap((kind) => [
      {
        name: kind.plural,
        singularName: kind.singular,
        namespaced: kind.namespaced,
        kind: kind.kind,
        verbs: verbsOf(kind),
        ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
        ...(kind.categories.length === 0 ? {} : { categories: kind.categories }),
      },
      ...partsOf(kind).map((part) => ({
        name: `${kind.plural}/${part.name}`,
        singularName: '',
        namespaced: kind.namespaced,
        ...(part.group === kind.group && part.version === kind.version
          ? {}
          : { group: part.group, version: part.version }),
        kind: part.kind,
        verbs: part.verbs,
      })),
    ]),
  };
}

/** `GET /`: all paths. */
export function allPaths(kinds: KindRegistry): object {
  const groups = [...groupsOf(kinds)];
  const paths = groups.flatMap(([group, versions]) => {
    const base = group === '' ? '/api' : `/apis/${group}`;
    return [base, ...[...versions.keys()].map((version) => `${base}/${version}`)];
  });
  return { paths: [...paths, '/apis', '/healthz', '/livez', '/openapi/v3', '/readyz', '/version'].sort() };
}
