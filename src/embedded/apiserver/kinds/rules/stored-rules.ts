import { sameJson } from '../../../frozen.ts';
import { type FieldError, forbidden, invalid, required } from '../../schema/field-error.ts';
import type { Draft, Fields, KindRules, WriteContext } from '../kind.ts';
import { checkVolumeClaim } from './limit-ranger.ts';

/** Marks the StorageClass for claims that name none. */
export const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';
const FROZEN = 'field is immutable when `immutable` is set';
const KEY = /^[-._a-zA-Z0-9]+$/;
const KEY_PROBLEM =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

function validateKeyed(object: Draft, old: Draft | undefined, fields: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of fields) {
    for (const key of Object.keys((object[field] as Fields | undefined) ?? {})) {
      if (!KEY.test(key)) errors.push(invalid(`${field}[${key}]`, key, KEY_PROBLEM));
    }
    if (old?.immutable === true && !sameJson(object[field], old[field])) errors.push(forbidden(field, FROZEN));
  }
  if (old?.immutable === true && object.immutable !== true) errors.push(forbidden('immutable', FROZEN));
  return errors;
}

export const configMapRules: KindRules = {
  validate: (object, old) => validateKeyed(object, old, ['data', 'binaryData']),
};

export const secretRules: KindRules = {
  defaults: (object) => {
    const { stringData, ...rest } = object as Draft & { readonly stringData?: Readonly<Record<string, string>> };
    const typed = { type: 'Opaque', ...rest } as Draft;
    if (stringData === undefined) return typed;
    const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    return { ...typed, data: { ...(typed.data as Fields | undefined), ...Object.fromEntries(encoded) } };
  },
  validate: (object, old) => [
    ...validateKeyed(object, old, ['data']),
    ...(old !== undefined && object.type !== old.type
      ? [invalid('type', object.type as string, 'field is immutable')]
      : []),
  ],
};

export const serviceRules: KindRules = {
  name: 'label',
  defaults: (object) => {
    const { spec } = object;
    if (spec === undefined) return object;
    const ports = spec.ports;
    const filled = Array.isArray(ports)
      ? { ports: ports.map((port: Fields) => ({ protocol: 'TCP', targetPort: port.port, ...port })) }
      : {};
    return {
      ...object,
      spec: { type: 'ClusterIP', sessionAffinity: 'None', internalTrafficPolicy: 'Cluster', ...spec, ...filled },
    };
  },
  prepareCreate: (object) => {
    const spec = object.spec ?? {};
    const status = { loadBalancer: {} };
    if (spec.type === 'ExternalName') return { ...object, status };
    const clusterIP = (spec.clusterIP as string | undefined) || addressFor(object.metadata.uid ?? '');
    const families = { clusterIPs: [clusterIP], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' };
    return { ...object, spec: { ...families, ...spec, clusterIP }, status };
  },
  prepareUpdate: (object, old) => {
    const kept = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'].filter(
      (field) => object.spec?.[field] === undefined && old.spec?.[field] !== undefined,
    );
    return {
      ...object,
      spec: { ...object.spec, ...Object.fromEntries(kept.map((field) => [field, old.spec?.[field]])) },
    };
  },
  validate: ({ spec }) => {
    const headless = spec?.type === 'ExternalName' || spec?.clusterIP === 'None';
    const ports = (spec?.ports as readonly unknown[] | undefined) ?? [];
    return ports.length === 0 && !headless ? [required('spec.ports')] : [];
  },
};

/** An address in 10.96.0.0/12 derived from the uid; nothing routes to it. */
function addressFor(uid: string): string {
  const bits = Number.parseInt(uid.slice(0, 8), 16) || 1;
  return `10.${96 + ((bits >>> 16) & 15)}.${(bits >>> 8) & 255}.${1 + ((bits & 255) % 254)}`;
}

export const claimRules: KindRules = {
  defaults: (object) =>
    object.spec === undefined ? object : { ...object, spec: { volumeMode: 'Filesystem', ...object.spec } },
  prepareCreate: (object, context) => {
    checkVolumeClaim(object, context);
    const storageClassName = object.spec?.storageClassName ?? defaultStorageClass(context);
    const spec = storageClassName === undefined ? object.spec : { ...object.spec, storageClassName };
    return { ...object, ...(spec && { spec }), status: { phase: 'Pending' } };
  },
  validate: (object, old) => {
    if (old === undefined || old.status?.phase === 'Pending') return [];
    const fixed = (spec: Fields | undefined): object => {
      const { resources: _, volumeAttributesClassName: __, volumeName: ___, ...rest } = spec ?? {};
      return rest;
    };
    if (sameJson(fixed(object.spec), fixed(old.spec))) return [];
    return [
      forbidden(
        'spec',
        'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
      ),
    ];
  },
};

/** The newest StorageClass marked as default; ties go to the first by name. */
function defaultStorageClass(context: WriteContext): string | undefined {
  const marked = [...context.all('storageclasses.storage.k8s.io')].filter(
    ({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === 'true',
  );
  const [newest] = marked.sort(
    (a, b) =>
      compare(b.metadata.creationTimestamp, a.metadata.creationTimestamp) || compare(a.metadata.name, b.metadata.name),
  );
  return newest?.metadata.name;
}

function compare(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export const volumeRules: KindRules = {
  defaults: (object) =>
    object.spec === undefined
      ? object
      : { ...object, spec: { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem', ...object.spec } },
  prepareCreate: (object) => ({ ...object, status: { phase: 'Pending' } }),
};

export const storageClassRules: KindRules = {
  defaults: (object) => ({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate', ...object }) as Draft,
  validate: (object) => (typeof object.provisioner === 'string' ? [] : [required('provisioner')]),
};

export const priorityClassRules: KindRules = {
  defaults: (object) => ({ preemptionPolicy: 'PreemptLowerPriority', ...object }) as Draft,
  validate: (object, old) =>
    old !== undefined && object.value !== old.value ? [forbidden('value', 'may not be changed in an update.')] : [],
};

export const budgetRules: KindRules = {
  prepareCreate: (object) => ({
    ...object,
    status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  }),
  validate: ({ spec }) => {
    const { minAvailable, maxUnavailable } = (spec ?? {}) as { minAvailable?: unknown; maxUnavailable?: unknown };
    if (minAvailable === undefined || maxUnavailable === undefined) return [];
    return [invalid('spec', spec as never, 'minAvailable and maxUnavailable cannot be both set')];
  },
};
