/**
 * Kubernetes' own types as compact tables, one line for each type:
 *
 *     Type [typed] [kind] [atomic]: field[!] number type [how it is merged]; ...
 *     Type = [string]
 *
 * - `typed`: has apiVersion and kind; `kind`: can be served as a resource; `atomic`: one value for server-side apply
 * - `!`: required; `number`: of the field in protobuf
 * - type: a scalar, a type of the same table, `core-v1/Type` of another, `*` for a pointer in Go (zero can be meant),
 *   `[T]` a list, `{T}` a map with string keys; `... 2 T` stands for the fields of T, inline in JSON and nested in protobuf
 * - merging: `atomic`, `set`, `map=key,key` (server-side apply), `merge`, `merge=key`, `retainKeys`, `replace`
 *   (strategic merge patch)
 * - `Type = [string]`: a list in JSON that protobuf wraps into a message
 */
export interface TypeTable {
  readonly table: string;
  readonly group: string;
  readonly version: string;
  /** The prefix of the type names in OpenAPI. */
  readonly openApi: string;
  readonly types: string;
}

export interface FieldFacts {
  /** Empty for an inlined type. */
  readonly name: string;
  readonly number: number;
  readonly required: boolean;
  readonly pointer: boolean;
  readonly form: 'one' | 'list' | 'map';
  /** A scalar, or `table/Type`. */
  readonly type: string;
  readonly merging: readonly string[];
}

export interface TypeFacts {
  /** `core-v1/PodSpec`. */
  readonly id: string;
  /** `PodSpec`. */
  readonly name: string;
  readonly typed: boolean;
  readonly kind: boolean;
  readonly atomic: boolean;
  /** A list in JSON, a message with that list as field 1 in protobuf. */
  readonly wrapsList: boolean;
  readonly fields: readonly FieldFacts[];
}

/** Parses one table. */
export function parseTypes(table: TypeTable): TypeFacts[] {
  return table.types
    .trim()
    .split('\n')
    .map((line) => parseType(line, table.table));
}

function parseType(line: string, table: string): TypeFacts {
  const wrapped = /^(\w+) = (\S+)$/.exec(line);
  if (wrapped !== null) {
    const [, name = '', type = ''] = wrapped;
    const items = parseField(`items 1 ${type}`, table);
    return { id: `${table}/${name}`, name, typed: false, kind: false, atomic: false, wrapsList: true, fields: [items] };
  }
  const colon = line.indexOf(':');
  const [name = '', ...words] = line.slice(0, colon).split(' ');
  const fields = line.slice(colon + 2);
  return {
    id: `${table}/${name}`,
    name,
    typed: words.includes('typed'),
    kind: words.includes('kind'),
    atomic: words.includes('atomic'),
    wrapsList: false,
    fields: fields === '' ? [] : fields.split('; ').map((field) => parseField(field, table)),
  };
}

const BUILT_IN_TYPE = /^[a-z]\w*$/;

function parseField(text: string, table: string): FieldFacts {
  const [name = '', number = '', written = '', ...merging] = text.split(' ');
  const form = written.startsWith('[') ? 'list' : written.startsWith('{') ? 'map' : 'one';
  const type = written.replace(/[[\]{}*]/g, '');
  return {
    name: name === '...' ? '' : name.replace('!', ''),
    number: Number(number),
    required: name.endsWith('!'),
    pointer: written.startsWith('*'),
    form,
    type: BUILT_IN_TYPE.test(type) || type.includes('/') ? type : `${table}/${type}`,
    merging,
  };
}
