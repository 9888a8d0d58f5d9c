/** Reads manifests from YAML and JSON files, and remembers the source of each object for messages. */
import type { Dirent } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text as readStream } from 'node:stream/consumers';
import { type Document, LineCounter, parseAllDocuments } from 'yaml';
import { formerKindProblem } from '../../apis/karpenter/former-kinds.ts';
import type { KubeObject } from '../../apis/kubernetes/object.ts';
import { asError, SpindriftError } from '../../platform/errors.ts';

/** An object and its source. */
export interface Manifest {
  /** `web.yaml, document 2`. */
  readonly source: string;
  readonly object: KubeObject;
}

/** The objects of files, and errors as lines. */
export interface ReadManifests {
  readonly manifests: readonly Manifest[];
  readonly problems: readonly string[];
}

/** Reads files, folders (their YAML and JSON files) and `-` for standard input. */
export async function readManifests(paths: readonly string[]): Promise<ReadManifests> {
  const texts = await Promise.all(paths.map(readPath));
  const read = texts.flat().map(({ path, text }) => parseManifests(path, text));
  return {
    manifests: read.flatMap(({ manifests }) => manifests),
    problems: read.flatMap(({ problems }) => problems),
  };
}

/** The manifests of one text. */
export function parseManifests(path: string, text: string): ReadManifests {
  // Bytes that are not UTF-8 decode to this character.
  if (/[\0\uFFFD]/.test(text))
    return { manifests: [], problems: [`${path} is not a text file: name manifests in YAML or JSON`] };
  const lines = new LineCounter();
  const manifests: Manifest[] = [];
  const problems: string[] = [];
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
  const parsed = 'empty' in documents ? [] : documents;
  for (const [index, document] of parsed.entries()) {
    const source = parsed.length === 1 ? path : `${path}, document ${index + 1}`;
    const [error] = document.errors;
    if (error !== undefined) {
      problems.push(`${source}, line ${lines.linePos(error.pos[0]).line}: ${error.message}`);
      continue;
    }
    for (const item of itemsOf(plainValue(document, source, problems))) {
      const problem = manifestProblem(item);
      if (problem === undefined) manifests.push({ source, object: item as KubeObject });
      else problems.push(`${source}: ${problem}`);
    }
  }
  return { manifests, problems };
}

/** The value of a document; unresolved aliases, and aliases that expand too far, throw only here. */
function plainValue(document: Document.Parsed, source: string, problems: string[]): unknown {
  try {
    return document.toJS({ maxAliasCount: 1000 });
  } catch (error) {
    problems.push(`${source}: ${asError(error).message}`);
    return undefined;
  }
}

async function readPath(path: string): Promise<{ path: string; text: string }[]> {
  try {
    if (path === '-') return [{ path: 'standard input', text: await readStream(process.stdin) }];
    const files = await filesOf(path);
    return await Promise.all(files.map(async (file) => ({ path: file, text: await readFile(file, 'utf8') })));
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const problems = missing ? `there is no file ${path}` : `${path} cannot be read: ${asError(error).message}`;
    throw new SpindriftError('MANIFESTS_INVALID', { problems });
  }
}

async function filesOf(path: string): Promise<string[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(path, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return [path];
    throw error;
  }
  const files = entries.filter((entry) => entry.isFile() && /\.(ya?ml|json)$/.test(entry.name));
  return files.map((entry) => join(path, entry.name)).sort();
}

/** The objects of a document: one, those of a List, or none where a document is empty. */
function itemsOf(document: unknown): unknown[] {
  if (document === null || document === undefined) return [];
  const { apiVersion, kind, items } = document as { apiVersion?: unknown; kind?: unknown; items?: unknown };
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [document];
  // Items of a DeploymentList need not say that they are Deployments.
  const ofList = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) };
  return items.map((item: unknown) => (typeof item === 'object' && item !== null ? { ...ofList, ...item } : item));
}

function manifestProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'is not an object: write a manifest';
  const { apiVersion, kind, metadata } = value as Partial<KubeObject>;
  if (typeof apiVersion !== 'string' || apiVersion === '') return 'apiVersion is missing: write it as in apps/v1';
  if (typeof kind !== 'string' || kind === '') return 'kind is missing: write it as in Deployment';
  if (typeof metadata !== 'object' || metadata === null || typeof metadata.name !== 'string')
    return `${kind}: metadata.name is missing: give the object a name`;
  return formerKindProblem({ apiVersion, kind, metadata });
}
