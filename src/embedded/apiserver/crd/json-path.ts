/** JSONPath as printer columns and scale paths use it: `.spec.x`, `.a['b.c']`, `.list[0]`, `.list[?(@.type=="Ready")].status`. */
import { fieldOf, isList, isObject } from '../schema/json-object.ts';
import type { Json } from '../schema/schema.ts';

type Step = (value: Json) => readonly Json[];

/** Finds the values at a path in an object; empty if there are none. */
export type JsonPath = (object: Json) => readonly Json[];

const cache = new Map<string, JsonPath | undefined>();

/** Parses a path and caches it; undefined if it is invalid. */
export function jsonPath(text: string): JsonPath | undefined {
  if (!cache.has(text)) {
    if (cache.size >= 1000) cache.clear();
    const steps = parse(text);
    cache.set(
      text,
      steps && ((object) => steps.reduce<readonly Json[]>((values, step) => values.flatMap(step), [object])),
    );
  }
  return cache.get(text);
}

/** The first value at a path. */
export function firstAt(object: Json, path: string): Json | undefined {
  return jsonPath(path)?.(object)[0];
}

function parse(text: string): Step[] | undefined {
  const steps: Step[] = [];
  let rest = text;
  while (rest !== '' && rest !== '.') {
    const next = readStep(rest);
    if (next === undefined) return undefined;
    const [step, length] = next;
    steps.push(step);
    rest = rest.slice(length);
  }
  return steps;
}

function readStep(text: string): readonly [step: Step, length: number] | undefined {
  const recursive = /^\.\.((?:\\.|[^.[\\])+)/.exec(text);
  if (recursive !== null) return [descend(withoutEscapes(recursive[1] as string)), recursive[0].length];
  const wildcard = /^(?:\.\*|\[\*\])/.exec(text);
  if (wildcard !== null) return [children, wildcard[0].length];
  const name = /^\.((?:\\.|[^.[\\])+)/.exec(text);
  if (name !== null) return [field(withoutEscapes(name[1] as string)), name[0].length];
  const quoted = /^\.?\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/.exec(text);
  if (quoted !== null) return [field(withoutEscapes(quoted[1] ?? quoted[2] ?? '')), quoted[0].length];
  const slice = /^\[(-?\d*)(?::(-?\d*))?\]/.exec(text);
  if (slice !== null && slice[0] !== '[]')
    return [slice[2] === undefined ? item(slice[1]) : range(slice[1], slice[2]), slice[0].length];
  const filter = /^\[\?\((.*?)\)\]/.exec(text);
  return filter === null ? undefined : readFilter(filter);
}

function withoutEscapes(name: string): string {
  return name.replace(/\\(.)/g, '$1');
}

function children(value: Json): readonly Json[] {
  return isList(value) ? value : isObject(value) ? Object.values(value) : [];
}

function field(name: string): Step {
  return (value) => {
    const found = isObject(value) ? fieldOf(value, name) : undefined;
    return found === undefined ? [] : [found];
  };
}

function item(index: string | undefined): Step {
  return (value) => {
    const found = isList(value) ? value.at(Number(index)) : undefined;
    return found === undefined ? [] : [found];
  };
}

function range(from: string | undefined, to: string): Step {
  return (value) => (isList(value) ? value.slice(Number(from || 0), to === '' ? undefined : Number(to)) : []);
}

function descend(name: string): Step {
  const here = field(name);
  return (value) => [...here(value), ...children(value).flatMap(descend(name))];
}

const COMPARISONS: Readonly<Record<string, (a: Json, b: Json) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => typeof a === typeof b && (a as number) < (b as number),
  '<=': (a, b) => typeof a === typeof b && (a as number) <= (b as number),
  '>': (a, b) => typeof a === typeof b && (a as number) > (b as number),
  '>=': (a, b) => typeof a === typeof b && (a as number) >= (b as number),
};

/** `@.type=="Ready"` keeps items with this value; `@.type` keeps items that have the field. */
function readFilter(filter: RegExpExecArray): readonly [step: Step, length: number] | undefined {
  const condition = /^\s*@(\S*?)\s*(?:(==|!=|<=|>=|<|>)\s*(.+?)\s*)?$/.exec(filter[1] as string);
  const path = condition === null ? undefined : parse(condition[1] as string);
  if (condition === null || path === undefined) return undefined;
  const [, , operator, written] = condition;
  const find: JsonPath = (object) => path.reduce<readonly Json[]>((values, step) => values.flatMap(step), [object]);
  const compare = operator === undefined ? undefined : COMPARISONS[operator];
  const wanted = written === undefined ? null : literal(written);
  const keep = (candidate: Json): boolean => {
    const found = find(candidate)[0];
    return found !== undefined && (compare === undefined || compare(found, wanted));
  };
  return [(value) => children(value).filter(keep), filter[0].length];
}

function literal(text: string): Json {
  const quoted = /^(?:'(.*)'|"(.*)")$/.exec(text);
  if (quoted !== null) return withoutEscapes(quoted[1] ?? quoted[2] ?? '');
  if (text === 'true' || text === 'false') return text === 'true';
  return Number.isNaN(Number(text)) ? text : Number(text);
}
