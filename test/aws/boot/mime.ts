/** Multipart user data as cloud-init and nodeadm take it apart. */
import { BootFailure } from './boot-settings.ts';

export interface MimePart {
  /** Without parameters, in lower case. */
  readonly contentType: string;
  readonly body: string;
}

/** The parts of a multipart document; one part of unknown type when it is not multipart at all. */
export function mimeParts(text: string): MimePart[] {
  if (!/^(?:mime-version|content-type):/i.test(text)) return [{ contentType: 'text/plain', body: text }];
  const { headers, body } = splitHeaders(text);
  const contentType = headers.get('content-type') ?? '';
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (!contentType.toLowerCase().startsWith('multipart/')) return [{ contentType: typeOf(contentType), body }];
  if (boundary === undefined) throw new BootFailure('the multipart user data names no boundary');
  const pieces = `\n${body}`.split(`\n--${boundary}`);
  if (!pieces.at(-1)?.startsWith('--')) throw new BootFailure('the multipart user data does not end with its boundary');
  return pieces.slice(1, -1).map((piece) => {
    const part = splitHeaders(piece.replace(/^\r?\n/, ''));
    const encoding = part.headers.get('content-transfer-encoding')?.toLowerCase();
    const decoded = encoding === 'base64' ? Buffer.from(part.body, 'base64').toString('utf8') : part.body;
    return { contentType: typeOf(part.headers.get('content-type') ?? 'text/plain'), body: decoded };
  });
}

function typeOf(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

function splitHeaders(text: string): { headers: Map<string, string>; body: string } {
  const end = /\r?\n\r?\n/.exec(text);
  if (end === null) throw new BootFailure('a part of the user data has headers but no body');
  const headers = new Map<string, string>();
  // A header goes on in the next line where that begins with a blank.
  for (const line of text
    .slice(0, end.index)
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return { headers, body: text.slice(end.index + end[0].length) };
}
