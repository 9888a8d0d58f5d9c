/**
 * Decodes request bodies of typed clients: Kubernetes objects in protobuf, in an envelope with apiVersion and kind. The
 * field tables of the built-in types (`schema/builtin`) define the conversion to JSON.
 */
import type { FieldFacts, TypeFacts } from '../schema/builtin/type-table.ts';
import { kindType, typeOf } from '../schema/builtin/types.ts';
import type { Json, JsonObject } from '../schema/schema.ts';
import { SPECIAL_TYPES } from './special-types.ts';
import { textOf, unreadable, WireReader, type WireType } from './wire-reader.ts';

export const PROTOBUF_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf';

/** `k8s` and a zero byte. */
const MAGIC = [0x6b, 0x38, 0x73, 0x00];
/** Deeper than any real object; only the schemas of definitions can nest without limit. */
const DEEPEST_NESTING = 500;
const JSON_SCHEMA = 'apiextensions-v1/JSONSchemaProps';

/**
 * Decodes a body to a JSON object with apiVersion and kind. Throws KUBE_BODY_UNREADABLE for other bytes and for kinds
 * without a field table.
 */
export function decodeProtobuf(body: Uint8Array): JsonObject {
  if (MAGIC.some((byte, index) => body[index] !== byte)) {
    throw unreadable('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  }
  const envelope = new WireReader(body.subarray(MAGIC.length));
  let [apiVersion, kind] = ['', ''];
  let raw: Uint8Array = new Uint8Array();
  while (!envelope.done) {
    const [field, wire] = envelope.tag();
    if (field === 1 && wire === 2) [apiVersion, kind] = typeMeta(envelope.bytes());
    else if (field === 2 && wire === 2) raw = envelope.bytes();
    else envelope.skip(wire);
  }
  const type = kindType(apiVersion, kind);
  if (type === undefined) throw unreadable(`no kind "${kind}" is registered for version "${apiVersion}"`);
  return { apiVersion, kind, ...message(raw, type, 0) };
}

function typeMeta(bytes: Uint8Array): [apiVersion: string, kind: string] {
  const reader = new WireReader(bytes);
  let [apiVersion, kind] = ['', ''];
  while (!reader.done) {
    const [field, wire] = reader.tag();
    if (field === 1 && wire === 2) apiVersion = textOf(reader.bytes());
    else if (field === 2 && wire === 2) kind = textOf(reader.bytes());
    else reader.skip(wire);
  }
  return [apiVersion, kind];
}

const fieldsByNumber = new WeakMap<TypeFacts, ReadonlyMap<number, FieldFacts>>();

function numbered(type: TypeFacts): ReadonlyMap<number, FieldFacts> {
  let fields = fieldsByNumber.get(type);
  if (fields === undefined) {
    fields = new Map(type.fields.map((field) => [field.number, field]));
    fieldsByNumber.set(type, fields);
  }
  return fields;
}

/** Fields during decoding; maps are filled entry by entry. */
type Fields = Map<string, Json | Map<string, Json>>;

/** The fields of a message. Built from maps, because clients can send names such as `__proto__`. */
function message(bytes: Uint8Array, type: TypeFacts, depth: number): JsonObject {
  const fields = readFields(bytes, type, depth);
  return Object.fromEntries(
    [...fields].map(([name, value]) => [name, value instanceof Map ? Object.fromEntries(value) : value]),
  );
}

function readFields(bytes: Uint8Array, type: TypeFacts, depth: number): Fields {
  if (depth > DEEPEST_NESTING) throw unreadable('exceeded max depth');
  const fields = numbered(type);
  const reader = new WireReader(bytes);
  const found: Fields = new Map();
  while (!reader.done) {
    const [number, wire] = reader.tag();
    const field = fields.get(number);
    if (field === undefined) reader.skip(wire);
    else readField(reader, wire, field, found, depth);
  }
  return found;
}

function readField(reader: WireReader, wire: WireType, field: FieldFacts, found: Fields, depth: number): void {
  if (field.name === '') {
    // Inlined in JSON: its fields belong to the enclosing message.
    for (const [name, value] of readFields(reader.bytes(), typeFacts(field), depth + 1)) found.set(name, value);
  } else if (field.form === 'map') {
    const [key, value] = mapEntry(reader.bytes(), field, depth);
    const known = (found.get(field.name) ?? new Map()) as Map<string, Json>;
    found.set(field.name, known.set(key, value));
  } else if (field.form === 'list') {
    const known = (found.get(field.name) ?? []) as Json[];
    // Numbers may be packed: all of them in one field.
    if (wire === 2 && isNumber(field.type)) known.push(...packed(reader.bytes(), field, depth));
    else known.push(single(reader, wire, field, depth) ?? null);
    found.set(field.name, known);
  } else {
    const value = single(reader, wire, field, depth);
    if (value !== undefined && !isUnset(value, field)) found.set(field.name, value);
  }
}

function isNumber(type: string): boolean {
  return type === 'int32' || type === 'int64' || type === 'bool';
}

function packed(bytes: Uint8Array, field: FieldFacts, depth: number): Json[] {
  const reader = new WireReader(bytes);
  const values: Json[] = [];
  while (!reader.done) values.push(single(reader, 0, field, depth) as Json);
  return values;
}

/** Go writes every field that is not a pointer, even if unset. An empty value counts as unset. */
function isUnset(value: Json, field: FieldFacts): boolean {
  if (field.pointer || field.required) return false;
  if (typeof value === 'object' && value !== null) {
    return field.name !== 'metadata' && field.type !== 'json' && Object.keys(value).length === 0;
  }
  return value === '' || value === 0 || value === false;
}

function mapEntry(bytes: Uint8Array, field: FieldFacts, depth: number): [key: string, value: Json] {
  const reader = new WireReader(bytes);
  let key = '';
  let value: Json | undefined;
  while (!reader.done) {
    const [number, wire] = reader.tag();
    if (number === 1 && wire === 2) key = textOf(reader.bytes());
    else if (number === 2) value = single(reader, wire, field, depth);
    else reader.skip(wire);
  }
  return [key, value ?? (field.type === 'string' || field.type === 'bytes' ? '' : null)];
}

const EXPECTED_WIRE: Readonly<Record<string, WireType>> = { bool: 0, int32: 0, int64: 0, double: 1 };

function single(reader: WireReader, wire: WireType, field: FieldFacts, depth: number): Json | undefined {
  if (wire !== (EXPECTED_WIRE[field.type] ?? 2)) throw unreadable(`wrong wireType = ${wire} for field ${field.name}`);
  switch (field.type) {
    case 'bool':
      return reader.varint() !== 0n;
    case 'int32':
    case 'int64':
      return reader.integer();
    case 'double':
      return reader.double();
    case 'string':
      return textOf(reader.bytes());
    case 'bytes':
      return Buffer.from(reader.bytes()).toString('base64');
    default:
      return compound(reader.bytes(), field, depth);
  }
}

function compound(bytes: Uint8Array, field: FieldFacts, depth: number): Json | undefined {
  const special = SPECIAL_TYPES[field.type];
  if (special !== undefined) return special(bytes);
  if (field.type.startsWith('schemaOr')) return schemaOr(bytes, depth);
  const type = typeFacts(field);
  const object = message(bytes, type, depth + 1);
  return type.wrapsList ? (object.items ?? []) : object;
}

/** A schema, a boolean, or a list of schemas or strings: all have the same encoding. */
function schemaOr(bytes: Uint8Array, depth: number): Json {
  const reader = new WireReader(bytes);
  const list: Json[] = [];
  let result: Json | undefined;
  while (!reader.done) {
    const [, wire] = reader.tag();
    if (wire === 0) result ??= reader.varint() !== 0n;
    else if (wire === 2) {
      const inner = reader.bytes();
      result = message(inner, typeOf(JSON_SCHEMA) as TypeFacts, depth + 1);
      list.push(result);
    } else reader.skip(wire);
  }
  return list.length > 1 ? list : (result ?? false);
}

function typeFacts(field: FieldFacts): TypeFacts {
  const type = typeOf(field.type);
  if (type === undefined) throw unreadable(`the type ${field.type} of ${field.name} has no table`);
  return type;
}
