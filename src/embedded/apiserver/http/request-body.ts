/** Reads a request body as an object, in any supported format. Refuses bodies that would harm the server. */
import type { IncomingMessage } from 'node:http';
import { parse as parseYaml } from 'yaml';
import { asError, hasCode } from '../../../platform/errors.ts';
import { isFields } from '../patch/merge-patch.ts';
import { decodeProtobuf, PROTOBUF_MEDIA_TYPE } from '../protobuf/decode-protobuf.ts';
import { badRequest, tooLarge, unsupportedMediaType } from '../status-errors.ts';
import { scanJson } from './json-scanner.ts';
import { mediaTypeOf } from './media-types.ts';

/** kube-apiserver's limit: 3 MiB. */
export const LARGEST_BODY = 3 * 1024 * 1024;
/** Deeper than any real object, and shallow enough for every recursive function. */
const DEEPEST_NESTING = 500;
const OBJECT_TYPES = ['application/json', 'application/yaml', PROTOBUF_MEDIA_TYPE];

/** A body that has been read. */
export interface RequestBody {
  readonly value: unknown;
  readonly duplicateFields: readonly string[];
}

/** Reads all bytes of a request. Beyond the limit it fails with 413, and the rest is read and discarded. */
export function readBytes(request: IncomingMessage): Promise<Buffer> {
  const refusal = (): Error => tooLarge(`Request entity too large: limit is ${LARGEST_BODY}`);
  if (Number(request.headers['content-length'] ?? 0) > LARGEST_BODY) return Promise.reject(refusal());
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= LARGEST_BODY) chunks.push(chunk);
      else {
        chunks = [];
        reject(refusal());
      }
    });
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

/** Parses JSON, YAML or protobuf by Content-Type; JSON if there is none. */
export function parseObject(bytes: Buffer, contentType: string | undefined, kind: string): RequestBody {
  const mediaType = mediaTypeOf(contentType);
  switch (mediaType) {
    case '':
    case '*/*':
    case 'application/json':
      return parseJson(
        bytes,
        `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error`,
      );
    case 'application/yaml':
      return parseYamlText(bytes);
    case PROTOBUF_MEDIA_TYPE:
      return { value: fromProtobuf(bytes), duplicateFields: [] };
    default:
      throw unsupportedMediaType(OBJECT_TYPES);
  }
}

/** `problem` starts the error message of a parse failure. */
export function parseJson(bytes: Buffer, problem = 'error decoding patch'): RequestBody {
  const text = bytes.toString('utf8');
  const { duplicateFields, depth } = scanJson(text);
  if (depth > DEEPEST_NESTING) throw badRequest('exceeded max depth');
  try {
    return { value: JSON.parse(text), duplicateFields };
  } catch (error) {
    throw badRequest(`${problem}: ${asError(error).message}`);
  }
}

/** Parses YAML or JSON: `kubectl apply` sends JSON with the YAML media type. */
export function parseYamlText(bytes: Buffer): RequestBody {
  if (/^\s*\{/.test(bytes.toString('utf8', 0, 64))) return parseJson(bytes);
  try {
    const value: unknown = parseYaml(bytes.toString('utf8'), { version: '1.1', maxAliasCount: 100 });
    if (depthOf(value, DEEPEST_NESTING) > DEEPEST_NESTING) throw badRequest('exceeded max depth');
    return { value, duplicateFields: [] };
  } catch (error) {
    throw badRequest(`error converting YAML to JSON: ${asError(error).message}`);
  }
}

function fromProtobuf(bytes: Buffer): unknown {
  try {
    return decodeProtobuf(bytes);
  } catch (error) {
    if (hasCode(error, 'KUBE_BODY_UNREADABLE')) throw badRequest(error.message);
    throw error;
  }
}

/** How deep a value nests, counted up to the limit. */
function depthOf(value: unknown, limit: number): number {
  if (limit < 0 || (!Array.isArray(value) && !isFields(value))) return 0;
  return 1 + Math.max(0, ...Object.values(value).map((child) => depthOf(child, limit - 1)));
}
