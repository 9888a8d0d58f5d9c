/** Multi-part user data: the user's parts, and ours. */
import { SpindriftError } from '../../../platform/errors.ts';

export interface MimePart {
  readonly contentType: string;
  readonly content: string;
}

export const SHELL_SCRIPT = 'text/x-shellscript; charset="us-ascii"';
export const NODE_CONFIG = 'application/node.eks.aws';

const BOUNDARY = '//';

/** Whether a text is a MIME archive. */
export function isMimeArchive(text: string): boolean {
  return /^(MIME-Version|Content-Type):/i.test(text.trimStart());
}

/** The parts of a MIME archive; CLOUD_USER_DATA_INVALID if it cannot be parsed. */
export function readMimeArchive(text: string): MimePart[] {
  const [head, body] = splitHead(text.replaceAll('\r', '').trimStart());
  const contentType = headerOf(head, 'content-type');
  if (contentType === undefined) throw invalid('its Content-Type header is missing');
  if (!/^multipart\//i.test(contentType)) throw invalid(`its Content-Type is ${contentType} and not multipart/mixed`);
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (boundary === undefined) throw invalid('its Content-Type header does not name a boundary');
  const lines = body.split('\n');
  const parts: MimePart[] = [];
  let current: string[] | undefined;
  const finish = (): void => {
    if (current === undefined) return;
    const [partHead, content] = splitHead(current.join('\n'));
    parts.push({ contentType: headerOf(partHead, 'content-type') ?? 'text/plain', content });
  };
  for (const line of lines) {
    const mark = line.trimEnd();
    if (mark === `--${boundary}--`) {
      finish();
      return parts;
    }
    if (mark === `--${boundary}`) {
      finish();
      current = [];
    } else current?.push(line);
  }
  throw invalid(`it does not end with --${boundary}--`);
}

/** The archive that cloud-init and nodeadm read. */
export function mimeArchive(parts: readonly MimePart[]): string {
  const written = parts.map(
    ({ contentType, content }) => `--${BOUNDARY}\nContent-Type: ${contentType}\n\n${content.replaceAll('\r', '')}\n`,
  );
  return `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="${BOUNDARY}"\n\n${written.join('')}--${BOUNDARY}--\n`;
}

/** The text before and after the first empty line. */
function splitHead(text: string): [head: string, body: string] {
  if (text.startsWith('\n')) return ['', text.slice(1)];
  const end = text.indexOf('\n\n');
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end + 2)];
}

/** A header continues in the next line if that begins with a blank. */
function headerOf(head: string, name: string): string | undefined {
  for (const line of head.replaceAll(/\n[ \t]+/g, ' ').split('\n')) {
    const [key = '', ...rest] = line.split(':');
    if (key.trim().toLowerCase() === name) return rest.join(':').trim();
  }
  return undefined;
}

function invalid(problem: string): SpindriftError {
  return new SpindriftError('CLOUD_USER_DATA_INVALID', {
    problem: `it begins as a MIME archive, but ${problem}`,
  });
}
