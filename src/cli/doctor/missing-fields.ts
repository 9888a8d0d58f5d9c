import type { JsonSchema } from '../../apis/schema/json-schema.ts';

/** Fields that a schema of ours has and the one in the cluster lacks, as paths: `spec.template.spec.taints[].key`. */
export function missingFields(ours: JsonSchema, theirs: JsonSchema | undefined, path = ''): string[] {
  if (theirs?.['x-kubernetes-preserve-unknown-fields'] === true) return [];
  const fields = Object.entries(ours.properties ?? {}).flatMap(([name, field]) => {
    const where = path === '' ? name : `${path}.${name}`;
    const found = theirs?.properties?.[name];
    return found === undefined ? [where] : missingFields(field, found, where);
  });
  const items = ours.items === undefined ? [] : missingFields(ours.items, theirs?.items, `${path}[]`);
  const { additionalProperties: values } = ours;
  const inMaps = values === undefined ? [] : missingFields(values, theirs?.additionalProperties, `${path}.*`);
  return [...fields, ...items, ...inMaps];
}
