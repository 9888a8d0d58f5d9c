/**
 * Finds what JSON.parse does not report: duplicate fields in one object, and the nesting depth. Makes one pass over the
 * text, which is valid JSON or will be rejected by JSON.parse.
 */
export interface JsonFindings {
  /** `spec.replicas`, `spec.containers[0].image`. */
  readonly duplicateFields: readonly string[];
  readonly depth: number;
}

interface Level {
  /** Undefined for a list. */
  readonly names: Set<string> | undefined;
  name: string;
  index: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Scans a text once. */
export function scanJson(text: string): JsonFindings {
  const levels: Level[] = [];
  const duplicateFields: string[] = [];
  let depth = 0;
  let expectsName = false;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
        levels.push({ names: new Set(), name: '', index: 0 });
        depth = Math.max(depth, levels.length);
        expectsName = true;
        break;
      case 0x5b: // [
        levels.push({ names: undefined, name: '', index: 0 });
        depth = Math.max(depth, levels.length);
        expectsName = false;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        levels.pop();
        expectsName = false;
        break;
      case 0x2c: {
        // ,
        const level = levels.at(-1);
        expectsName = level?.names !== undefined;
        if (level !== undefined && !expectsName) level.index++;
        break;
      }
      case QUOTE: {
        const end = endOfString(text, at);
        const level = levels.at(-1);
        if (expectsName && level?.names !== undefined) {
          level.name = unquoted(text.slice(at, end + 1));
          if (level.names.has(level.name)) duplicateFields.push(pathOf(levels));
          level.names.add(level.name);
          expectsName = false;
        }
        at = end;
        break;
      }
    }
  }
  return { duplicateFields, depth };
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

function unquoted(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}

function pathOf(levels: readonly Level[]): string {
  return levels.reduce((path, { names, name, index }) => {
    if (names === undefined) return `${path}[${index}]`;
    return path === '' ? name : `${path}.${name}`;
  }, '');
}
