/** Defaults and validation of CustomResourceDefinitions. */

import { dns1035Problems, dns1123Problems } from '../schema/dns-names.ts';
import { sameJson } from '../schema/equality.ts';
import { type FieldError, forbidden, invalid, notSupported, required } from '../schema/field-error.ts';
import type { Json } from '../schema/schema.ts';
import type { CustomResourceDefinition, CustomResourceNames } from './custom-resource-definition.ts';
import { validateVersions } from './version-rules.ts';

type Spec = CustomResourceDefinition['spec'];

/** Fills in optional fields: singular, listKind, conversion, stored versions. */
export function defaultDefinition(definition: CustomResourceDefinition): CustomResourceDefinition {
  const { spec, status } = definition;
  const kind = spec?.names?.kind ?? '';
  const names = {
    ...spec?.names,
    singular: spec?.names?.singular || kind.toLowerCase(),
    ...(kind === '' ? {} : { listKind: spec?.names?.listKind || `${kind}List` }),
  };
  const storage = spec?.versions?.find((version) => version.storage)?.name;
  const storedVersions = status?.storedVersions ?? (storage === undefined ? [] : [storage]);
  return {
    ...definition,
    spec: { ...spec, names, conversion: spec?.conversion ?? { strategy: 'None' } },
    ...(storedVersions.length === 0 ? {} : { status: { ...status, storedVersions } }),
  };
}

/** Validation errors of a definition that has its defaults; with the old one, also changes that are not allowed. */
export function validateDefinition(definition: CustomResourceDefinition, old?: CustomResourceDefinition): FieldError[] {
  const { spec } = definition;
  const names: Partial<CustomResourceNames> = spec.names ?? {};
  const errors: FieldError[] = [];
  const expected = `${names.plural ?? ''}.${spec.group ?? ''}`;
  if (definition.metadata.name !== undefined && definition.metadata.name !== expected) {
    const detail = 'must be spec.names.plural+"."+spec.group';
    errors.push(invalid('metadata.name', definition.metadata.name, detail));
  }
  errors.push(...groupProblems(spec.group ?? ''), ...scopeProblems(spec.scope as string | undefined));
  errors.push(...validateVersions(spec));
  errors.push(...nameProblems(names));
  errors.push(...conversionProblems(spec));
  if (spec.preserveUnknownFields === true) {
    const detail =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    errors.push(invalid('spec.preserveUnknownFields', true, detail));
  }
  errors.push(...approvalProblems(definition));
  if (old !== undefined) errors.push(...changeProblems(definition, old));
  errors.push(...storedVersionProblems(definition));
  return errors;
}

function groupProblems(group: string): FieldError[] {
  if (group === '') return [required('spec.group')];
  const problems = dns1123Problems(group);
  if (problems.length > 0) return [invalid('spec.group', group, problems.join(','))];
  return group.includes('.') ? [] : [invalid('spec.group', group, 'should be a domain with at least one dot')];
}

function scopeProblems(scope: string | undefined): FieldError[] {
  if (scope === undefined || scope === '') return [required('spec.scope')];
  const scopes = ['Cluster', 'Namespaced'];
  return scopes.includes(scope) ? [] : [notSupported('spec.scope', scope, scopes)];
}

function nameProblems(names: Partial<CustomResourceNames>): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!names[field]) errors.push(required(`spec.names.${field}`));
  }
  const check = (field: string, name: string | undefined, mixedCase: boolean): void => {
    const problems = name ? dns1035Problems(mixedCase ? name.toLowerCase() : name) : [];
    if (problems.length === 0) return;
    const prefix = mixedCase ? 'may have mixed case, but should otherwise match: ' : '';
    errors.push(invalid(`spec.names.${field}`, name, prefix + problems.join(',')));
  };
  check('plural', names.plural, false);
  check('singular', names.singular, false);
  check('kind', names.kind, true);
  check('listKind', names.listKind, true);
  for (const [index, name] of (names.shortNames ?? []).entries()) check(`shortNames[${index}]`, name, false);
  if (names.kind && names.kind === names.listKind) {
    errors.push(invalid('spec.names.listKind', names.listKind, 'kind and listKind may not be the same'));
  }
  for (const [index, name] of (names.categories ?? []).entries()) check(`categories[${index}]`, name, false);
  return errors;
}

/** Webhook conversion is accepted, but objects are served unconverted. */
function conversionProblems({ conversion }: Spec): FieldError[] {
  if (conversion === undefined) return [];
  const strategies = ['None', 'Webhook'];
  if (!strategies.includes(conversion.strategy)) {
    return [notSupported('spec.conversion.strategy', conversion.strategy, strategies)];
  }
  if (conversion.strategy === 'Webhook' && conversion.webhook === undefined) {
    return [
      required('spec.conversion.webhookClientConfig', 'required when strategy is set to Webhook'),
      required('spec.conversion.conversionReviewVersions'),
    ];
  }
  if (conversion.strategy === 'None' && conversion.webhook !== undefined) {
    const detail = 'should not be set when strategy is not set to Webhook';
    return [forbidden('spec.conversion.webhookClientConfig', detail)];
  }
  return [];
}

const APPROVAL = 'api-approved.kubernetes.io';

/** Groups of the Kubernetes project need an approval annotation. */
function approvalProblems({ metadata, spec }: CustomResourceDefinition): FieldError[] {
  const group = spec.group ?? '';
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  const field = `metadata.annotations[${APPROVAL}]`;
  const value = metadata.annotations?.[APPROVAL] ?? '';
  if (value === '') {
    const detail = `protected groups must have approval annotation "${APPROVAL}", see https://github.com/kubernetes/enhancements/pull/1111`;
    return [required(field, detail)];
  }
  if (value.startsWith('unapproved') || /^https?:\/\/[^/]+/.test(value)) return [];
  const detail = `protected groups must have approval annotation "${APPROVAL}" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`;
  return [invalid(field, value, detail)];
}

function changeProblems(definition: CustomResourceDefinition, old: CustomResourceDefinition): FieldError[] {
  const established = old.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
  const fixed: [field: string, value: Json | undefined, before: Json | undefined][] = [
    ...(established === true
      ? (
          [
            ['spec.scope', definition.spec.scope, old.spec.scope],
            ['spec.names.kind', definition.spec.names.kind, old.spec.names.kind],
          ] as const
        ).map(([...entry]): [string, Json | undefined, Json | undefined] => entry)
      : []),
    ['spec.group', definition.spec.group, old.spec.group],
    ['spec.names.plural', definition.spec.names.plural, old.spec.names.plural],
  ];
  return fixed
    .filter(([, value, before]) => !sameJson(value, before))
    .map(([field, value]) => invalid(field, value, 'field is immutable'));
}

function storedVersionProblems({ spec, status }: CustomResourceDefinition): FieldError[] {
  const stored = status?.storedVersions ?? [];
  if (stored.length === 0) return [invalid('status.storedVersions', null, 'must have at least one stored version')];
  const missing = (spec.versions ?? [])
    .filter((version) => version.storage && !stored.includes(version.name))
    .map(({ name }) => invalid('status.storedVersions', stored, `must have the storage version ${name}`));
  const names = new Set((spec.versions ?? []).map((version) => version.name));
  const gone = stored.flatMap((version, index) =>
    names.has(version)
      ? []
      : [
          invalid(
            `status.storedVersions[${index}]`,
            version,
            `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`,
          ),
        ],
  );
  return [...missing, ...gone];
}
