/** Checks that embedded resources (x-kubernetes-embedded-resource) have apiVersion, kind and metadata. */
import { type FieldError, invalid, required } from './field-error.ts';
import { fieldOf, isList, isObject, propertySchema } from './json-object.ts';
import type { Json, JsonObject, Schema } from './schema.ts';

/** Errors in the apiVersion, kind and metadata of resources embedded anywhere in the value. */
export function validateEmbeddedResources(value: Json, schema: Schema | undefined, path = ''): FieldError[] {
  if (schema === undefined) return [];
  if (isList(value)) {
    return value.flatMap((item, index) => validateEmbeddedResources(item, schema.items, `${path}[${index}]`));
  }
  if (!isObject(value)) return [];
  const own = schema['x-kubernetes-embedded-resource'] === true ? checkResource(value, path) : [];
  const below = Object.keys(value).flatMap((key) => {
    const named = schema.properties !== undefined && Object.hasOwn(schema.properties, key);
    const step = named ? (path === '' ? key : `${path}.${key}`) : `${path}[${key}]`;
    return validateEmbeddedResources(value[key] as Json, propertySchema(schema, key), step);
  });
  return [...own, ...below];
}

function checkResource(resource: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['apiVersion', 'kind']) {
    const value = fieldOf(resource, name);
    if (value === undefined) errors.push(required(`${path}.${name}`));
    else if (typeof value !== 'string') errors.push(invalid(`${path}.${name}`, value, 'must be a string'));
    else if (value === '') errors.push(invalid(`${path}.${name}`, value, 'must not be empty'));
  }
  const metadata = fieldOf(resource, 'metadata');
  if (metadata !== undefined && !isObject(metadata)) {
    errors.push(invalid(`${path}.metadata`, metadata, 'must be an object'));
  }
  return errors;
}
