/** Validates the versions of a definition: schemas, columns, subresources and selectable fields. */
import { fieldPathText } from '../schema/cel/field-path.ts';
import { dns1035Problems } from '../schema/dns-names.ts';
import { sameJson } from '../schema/equality.ts';
import { duplicate, type FieldError, invalid, required, tooMany } from '../schema/field-error.ts';
import { listText } from '../schema/go-text.ts';
import type { Json, Schema } from '../schema/schema.ts';
import { validateDefinitionSchema } from '../schema/schema-rules.ts';
import type {
  CustomResourceColumn,
  CustomResourceDefinition,
  CustomResourceVersion,
  ScaleSubresource,
} from './custom-resource-definition.ts';

const EXTENSIONS: Readonly<Record<string, string>> = {
  XPreserveUnknownFields: 'x-kubernetes-preserve-unknown-fields',
  XValidations: 'x-kubernetes-validations',
};
const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const MAX_SELECTABLE_FIELDS = 8;
const SELECTABLE_TYPES = ['string', 'boolean', 'integer'];

/**
 * All errors in the versions. A part that is the same in all versions is reported once, under its top-level path, as
 * kube-apiserver does.
 */
export function validateVersions({ versions = [] }: Pick<CustomResourceDefinition['spec'], 'versions'>): FieldError[] {
  const errors: FieldError[] = [];
  const alike = <T>(part: (version: CustomResourceVersion) => T): boolean =>
    versions.every((version) => sameJson(part(version) as Json, part(versions[0] as CustomResourceVersion) as Json));
  for (const [index, version] of versions.entries()) {
    const path = `spec.versions[${index}]`;
    if (version.schema?.openAPIV3Schema === undefined) errors.push(required(`${path}.schema.openAPIV3Schema`));
    const problems = dns1035Problems(version.name ?? '');
    if (problems.length > 0) {
      errors.push(invalid(`${path}.name`, version.name, problems.join(',')));
      if (index === 0) errors.push(invalid('spec.version', version.name, problems.join(',')));
    }
    errors.push(...deprecationProblems(version, path));
  }
  const once = (
    part: (version: CustomResourceVersion) => unknown,
    above: string,
    below: string,
    check: Check,
  ): void => {
    if (versions.length > 0 && alike(part))
      errors.push(...check(versions[0] as CustomResourceVersion, `spec.${above}`));
    else
      for (const [index, version] of versions.entries())
        errors.push(...check(version, `spec.versions[${index}].${below}`));
  };
  if (new Set(versions.map((version) => version.name)).size !== versions.length) {
    errors.push(invalid('spec.versions', versions as unknown as Json, 'must contain unique version names'));
  }
  if (versions.filter((version) => version.storage).length !== 1) {
    const detail = 'must have exactly one version marked as storage version';
    errors.push(invalid('spec.versions', versions as unknown as Json, detail));
  }
  once((version) => version.schema, 'validation', 'schema', schemaProblems);
  once((version) => version.subresources, 'subresources', 'subresources', scaleProblems);
  once(
    (version) => version.additionalPrinterColumns,
    'additionalPrinterColumns',
    'additionalPrinterColumns',
    columnProblems,
  );
  once((version) => version.selectableFields, 'selectableFields', 'selectableFields', selectableProblems);
  return errors;
}

type Check = (version: CustomResourceVersion, path: string) => FieldError[];

function deprecationProblems({ deprecated, deprecationWarning }: CustomResourceVersion, path: string): FieldError[] {
  if (deprecationWarning === undefined) return [];
  const field = `${path}.deprecationWarning`;
  if (deprecated !== true) return [invalid(field, deprecationWarning, 'can only be set for deprecated versions')];
  if (deprecationWarning === '') return [invalid(field, deprecationWarning, 'must not be an empty string')];
  return deprecationWarning.length > 256 ? [invalid(field, deprecationWarning, 'must be <= 256 characters long')] : [];
}

function schemaProblems(version: CustomResourceVersion, path: string): FieldError[] {
  const schema = version.schema?.openAPIV3Schema;
  if (schema === undefined) return [];
  const field = `${path}.openAPIV3Schema`;
  const errors = validateDefinitionSchema(schema, field);
  const more = Object.keys(schema).filter((key) => !BESIDE_STATUS.has(key));
  if (version.subresources?.status === undefined || more.length === 0) return errors;
  const detail = `only ${listText(BESIDE_STATUS_NAMES)} fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalid(field, schema as unknown as Json, detail), ...errors];
}

/** Fields that the root of a schema may have when status is a subresource, spelled as in the server's message. */
const BESIDE_STATUS_NAMES =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations'.split(
    ' ',
  );
const BESIDE_STATUS: ReadonlySet<string> = new Set(
  BESIDE_STATUS_NAMES.map(
    (name) => (name.startsWith('X') ? EXTENSIONS[name] : name[0]?.toLowerCase() + name.slice(1)) ?? '',
  ),
);

function scaleProblems({ subresources }: CustomResourceVersion, path: string): FieldError[] {
  const scale: Partial<ScaleSubresource> | undefined = subresources?.scale;
  if (scale === undefined) return [];
  return [
    ...replicasPath(scale.specReplicasPath, `${path}.scale.specReplicasPath`, '.spec'),
    ...replicasPath(scale.statusReplicasPath, `${path}.scale.statusReplicasPath`, '.status'),
    ...selectorPath(scale.labelSelectorPath ?? '', `${path}.scale.labelSelectorPath`),
  ];
}

function replicasPath(value: string | undefined, field: string, root: string): FieldError[] {
  if (!value) return [required(field)];
  const problems = pathProblems(value, field);
  if (problems.length > 0 || value.startsWith(`${root}.`)) return problems;
  return [invalid(field, value, `should be a json path under ${root}`)];
}

function selectorPath(value: string, field: string): FieldError[] {
  if (value === '') return [];
  const problems = pathProblems(value, field);
  if (problems.length > 0 || /^\.(spec|status)\./.test(value)) return problems;
  return [invalid(field, value, 'should be a json path under either .spec or .status')];
}

function pathProblems(value: string, field: string): FieldError[] {
  return value.startsWith('.') ? [] : [invalid(field, value, 'must be a simple json path starting with .')];
}

function columnProblems({ additionalPrinterColumns = [] }: CustomResourceVersion, path: string): FieldError[] {
  return additionalPrinterColumns.flatMap((column, index) => oneColumn(column, `${path}[${index}]`));
}

function oneColumn(column: Partial<CustomResourceColumn>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { name, type, format, jsonPath } = column;
  if (!name) errors.push(required(`${path}.name`));
  const types = `must be one of ${COLUMN_TYPES.join(',')}`;
  if (!type) errors.push(required(`${path}.type`, types));
  else if (!COLUMN_TYPES.includes(type)) errors.push(invalid(`${path}.type`, type, types));
  if (format && !COLUMN_FORMATS.includes(format)) {
    errors.push(invalid(`${path}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`));
  }
  if (!jsonPath) errors.push(required(`${path}.JSONPath`));
  else errors.push(...pathProblems(jsonPath, `${path}.JSONPath`));
  return errors;
}

function selectableProblems(version: CustomResourceVersion, path: string): FieldError[] {
  const fields = version.selectableFields ?? [];
  const schema: Schema = version.schema?.openAPIV3Schema ?? {};
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, { jsonPath }] of fields.entries()) {
    const field = `${path}[${index}].jsonPath`;
    if (!jsonPath) {
      errors.push(required(field));
      continue;
    }
    const found = fieldPathText(jsonPath, schema, 'forbidden');
    if ('problem' in found) {
      errors.push(invalid(field, jsonPath, `is an invalid path: ${found.problem}`));
      continue;
    }
    if (/^metadata(\.|$)/.test(found.path)) {
      errors.push(invalid(field, jsonPath, 'must not point to fields in metadata'));
    }
    if (!SELECTABLE_TYPES.includes(found.schema.type ?? '')) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      errors.push(invalid(field, jsonPath, detail));
    }
    if (seen.has(found.path)) errors.push(duplicate(field, jsonPath));
    seen.add(found.path);
  }
  if (seen.size > MAX_SELECTABLE_FIELDS) errors.push(tooMany(path, seen.size, MAX_SELECTABLE_FIELDS));
  return errors;
}
