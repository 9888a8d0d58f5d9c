/** Reads a catalogue from a local file. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { InstanceType } from '../../engine/problem.ts';
import { asError } from '../../platform/errors.ts';
import { fieldError } from './field-reader.ts';
import { parseInstanceTypes, toInstanceType } from './instance-type-entries.ts';

/** The instance types of a file; a file that ends in `.gz` is decompressed. */
export function readInstanceTypes(path: string): InstanceType[] {
  return parseInstanceTypes(readJson(path)).map(toInstanceType);
}

/** Reads a JSON file; a file that ends in `.gz` is decompressed. */
export function readJson(path: string): unknown {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
    if (path.endsWith('.gz')) bytes = gunzipSync(bytes);
  } catch (error) {
    throw fieldError(path, 'cannot be read:', asError(error).message);
  }
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw fieldError(path, 'is not JSON:', asError(error).message);
  }
}
